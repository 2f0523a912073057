import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const test = suite('search languages')
let knowledge: KnowledgeFixture
const tools: Record<string, Json> = {}

/** Three documents in each language and a question for each, in other words than its document. */
const LANGUAGES: Record<string, { documents: [string, string, string]; questions: [string, string, string] }> = {
  Chinese: {
    documents: [
      '员工每年享有二十五天带薪年假，未使用的假期在三月底失效。',
      '火车出差应预订二等座，乘坐飞机需要部门主管批准。',
      '密码至少需要十四个字符，泄露后必须立即更换。',
    ],
    questions: ['带薪年假有多少天？', '出差坐飞机需要谁批准？', '密码要多少个字符？'],
  },
  Japanese: {
    documents: [
      '社員は年に二十五日の有給休暇を取ることができます。残った休暇は三月末に消えます。',
      '出張で飛行機を使うときは部長の許可が必要です。電車は普通車を予約してください。',
      'パスワードは十四文字以上にして、漏れた場合はすぐに変更します。',
    ],
    questions: ['有給休暇は何日ありますか', '飛行機の出張には誰の許可が必要ですか', 'パスワードは何文字以上ですか'],
  },
  Thai: {
    documents: [
      'พนักงานทุกคนมีวันลาพักร้อนปีละยี่สิบห้าวัน วันลาที่เหลือจะหมดอายุในเดือนมีนาคม',
      'การเดินทางด้วยเครื่องบินต้องได้รับอนุมัติจากหัวหน้าแผนก',
      'รหัสผ่านต้องมีอย่างน้อยสิบสี่ตัวอักษรและต้องเปลี่ยนเมื่อรั่วไหล',
    ],
    questions: ['วันลาพักร้อนมีกี่วัน', 'เครื่องบินต้องให้ใครอนุมัติ', 'รหัสผ่านต้องมีกี่ตัวอักษร'],
  },
  German: {
    documents: [
      'Alle Beschäftigten haben fünfundzwanzig Tage bezahlten Urlaub im Jahr. Übriger Urlaub verfällt Ende März.',
      'Flüge müssen von der Leitung der Abteilung genehmigt werden, Züge werden in der zweiten Klasse gebucht.',
      'Kennwörter haben mindestens vierzehn Zeichen und werden nach einem Verlust sofort geändert.',
    ],
    questions: ['Wie viele Tage bezahlten Urlaub gibt es?', 'Wer genehmigt Flüge?', 'Wie viele Zeichen haben Kennwörter?'],
  },
  Arabic: {
    documents: [
      'يحصل كل موظف على خمسة وعشرين يوما من الإجازة السنوية المدفوعة.',
      'تحتاج الرحلات الجوية إلى موافقة رئيس القسم، وتحجز القطارات في الدرجة الثانية.',
      'يجب أن تحتوي كلمة المرور على أربعة عشر حرفا على الأقل.',
    ],
    questions: ['كم عدد أيام الإجازة السنوية المدفوعة؟', 'من يعطي موافقة على الرحلات الجوية؟', 'كم حرفا في كلمة المرور؟'],
  },
  Russian: {
    documents: [
      'Каждый сотрудник имеет двадцать пять дней оплачиваемого отпуска в год.',
      'Перелёты должен одобрить начальник отдела, поезда бронируются во втором классе.',
      'Пароль должен содержать не менее четырнадцати символов.',
    ],
    questions: ['Сколько дней оплачиваемого отпуска в год?', 'Кто должен одобрить перелёты?', 'Сколько символов должен содержать пароль?'],
  },
}

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    const documents = Object.entries(LANGUAGES).flatMap(([language, { documents }]) =>
      documents.map((text, at) => [`${language} ${at}.md`, text]),
    )
    const source = await knowledge.createSyncedSource(Object.fromEntries(documents))
    for (const method of ['full_text', 'hybrid']) tools[method] = await knowledge.createTool(source.id, { search_method: method, top_k: 3 })
    await knowledge.waitForSync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

for (const [language, { questions }] of Object.entries(LANGUAGES)) {
  for (const method of ['full_text', 'hybrid']) {
    test(`${language}: a question finds the document that answers it (${method})`, async () => {
      for (const [at, question] of questions.entries())
        assert.is((await knowledge.searchNames(tools[method], question))[0], `${language} ${at}.md`, question)
    })
  }
}

test('full-text search ignores accents, case and width', async () => {
  for (const query of ['fluge', 'FLÜGE', 'flüge']) assert.is((await knowledge.searchNames(tools.full_text, query))[0], 'German 1.md', query)
  assert.is((await knowledge.searchNames(tools.full_text, 'ПАРОЛЬ'))[0], 'Russian 2.md')
  assert.is((await knowledge.searchNames(tools.full_text, 'ﾊﾟｽﾜｰﾄﾞ'))[0], 'Japanese 2.md', 'half-width letters')
})

test.run()
