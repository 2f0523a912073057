import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { selectQueryWords } from '../../../daemon/language/content-words.ts'
import { expandQuery } from '../../../daemon/language/expand-query.ts'
import { SYNONYM_GROUPS } from '../../../daemon/language/synonym-groups.ts'
import { tokenize } from '../../../daemon/language/tokenize.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { KnowledgeFixture } from '../knowledge-fixture.ts'

const test = suite('search with a different wording')
let knowledge: KnowledgeFixture
let tool: Json

const HANDBOOK = {
  'leave.md': '# Absence\n\nEvery employee has thirty days of leave each year, from the first day on.',
  'party.md': '# Party\n\nHow much fun do we get? The holiday party is in December, and we do get a lot of cake there.',
  'notice.md': '# Leaving\n\nWhoever wants to resign writes a letter three months before.',
  'logs.md': '# Logs\n\nSet the level to none to disable all messages of the server.',
  'ferien.md': '# Abwesenheit\n\nAlle Angestellten haben dreißig Ferientage im Jahr, auch in der Probezeit.',
  'trennung.md': '# Trennung\n\nDas Arbeitsverhältnis kann mit drei Monaten Vorlauf beendet werden; die Kündigung ist schriftlich.',
  'essen.md': '# Essen\n\nWie viel Kuchen bekommen wir? In der Küche gibt es freitags Kuchen für alle.',
}

test.before(
  reportFailure(async () => {
    knowledge = await KnowledgeFixture.start()
    const source = await knowledge.createSyncedSource(HANDBOOK)
    tool = await knowledge.createTool(source.id, { search_method: 'full_text' })
    await knowledge.waitForSync(source.id)
  }),
)
test.after(reportFailure(() => knowledge.close()))

const findNames = async (query: string): Promise<string[]> =>
  (await knowledge.search(tool, query)).map(({ metadata }: Json) => metadata.source as string)

test('other words for the subject of a question are found', async () => {
  assert.ok((await findNames('vacation')).includes('leave.md'))
  assert.ok((await findNames('How much time off?')).includes('leave.md'))
  assert.ok((await findNames('quitting')).includes('notice.md'))
  assert.ok((await findNames('turn off messages')).includes('logs.md'))
})

test('German words have other words and forms', async () => {
  assert.ok((await findNames('Wie viel Urlaub haben wir?')).slice(0, 2).includes('ferien.md'))
  assert.ok((await findNames('Wie sind die Urlaubsregelungen?')).includes('ferien.md'))
  assert.ok((await findNames('Wie kündige ich?')).includes('trennung.md'))
  assert.ok((await findNames('Urlaub')).includes('leave.md'), 'also in documents in English')
})

test('the words of the query come first', async () => {
  assert.equal((await findNames('holiday')).slice(0, 1), ['party.md'])
  assert.equal((await findNames('leave')).slice(0, 1), ['leave.md'])
})

test('the most frequent words are not searched for, unless the query has no others', async () => {
  assert.is(selectQueryWords(tokenize('What is the price of a hotel?')), 'price hotel')
  assert.is(selectQueryWords(tokenize('That is the one')), 'one')
  assert.is(selectQueryWords(tokenize('the of')), 'the of')
  assert.is(selectQueryWords(''), '')
  assert.equal(await findNames('the level'), ['logs.md'])
})

test('a query is expanded by words and phrases, which take precedence over their words', () => {
  assert.ok(expandQuery('How much holiday do we get?').includes('leave'))
  assert.ok(expandQuery('days of leave').includes('holiday'))
  assert.ok(expandQuery('deleting users').includes('remove'))
  assert.ok(expandQuery('turned off').includes('disable'))
  assert.not(expandQuery('sick leave').includes('vacation'))
  assert.not(expandQuery('Can I manage the compute nodes?').some((term) => ['boss', 'laptop'].includes(term)))
})

test('a query without a known word, in another script or of many words is not expanded', () => {
  for (const query of ['', '?!', 'QueryParser', '黑豹队的防守', 'the pancreas of zebrafish', 'holiday '.repeat(100)])
    assert.equal(expandQuery(query), [])
})

test('only German queries are expanded by German forms', () => {
  assert.ok(expandQuery('Wie viele Rechnungen gibt es?').includes('rechnung'))
  assert.not(expandQuery('How many Rechnungen').includes('rechnungn'))
})

test('terms are written as tokens, and a query adds a bounded number of them', () => {
  for (const { members } of SYNONYM_GROUPS) for (const member of members) assert.is(tokenize(member), member)
  const query = SYNONYM_GROUPS.slice(0, 30).map(({ members }) => members[0])
  assert.ok(expandQuery(`wie ${query.join(' ')}`.split(' ').slice(0, 40).join(' ')).length <= 40)
})

test.run()
