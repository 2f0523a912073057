import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { scoreTokenF1 } from '../../daemon/evaluations/score-text.ts'
import { extractContentWords } from '../../daemon/language/content-words.ts'
import { tokenize } from '../../daemon/language/tokenize.ts'

const test = suite('tokens of the full-text index')
const matches = (text: string, query: string) => {
  const words = new Set(tokenize(text).split(' '))
  return tokenize(query)
    .split(' ')
    .every((word) => words.has(word))
}

test('tokens are lower-case without punctuation', () => {
  assert.is(tokenize('Hello, World! (Really.)'), 'hello world really')
  assert.is(tokenize(''), '')
  assert.is(tokenize('…!?'), '')
})

test('identifiers become one token and their parts', () => {
  assert.is(tokenize('getUserName'), 'getusername get user name')
  assert.is(tokenize('snake_case_name'), 'snakecasename snake case name')
  assert.is(tokenize('kebab-case'), 'kebabcase kebab case')
  assert.is(tokenize('os.path'), 'ospath os path')
  assert.is(tokenize('HTTPServer2'), 'httpserver2 http server 2')
  assert.ok(matches('call get_user_name()', 'getUserName'))
  assert.ok(matches('class UserAccountService', 'account service'))
})

test('possessives and contractions become plain words', () => {
  assert.is(tokenize("the company's"), 'the company')
  assert.is(tokenize('the company’s'), 'the company')
  assert.is(tokenize("don't"), 'dont')
})

test('accents and full-width letters are normalized', () => {
  assert.ok(matches('Café in Orléans', 'cafe orleans'))
  assert.ok(matches('ＡＢＣ ﬁle', 'abc file'))
  assert.is(tokenize('Größe'), 'große')
})

test('languages without spaces are segmented into words', () => {
  assert.ok(matches('黑豹队的防守只丢了308分', '防守'))
  assert.ok(matches('東京都に住んでいます', '東京'))
  assert.ok(matches('ประเทศไทยเป็นประเทศในเอเชีย', 'ประเทศ'))
  assert.ok(matches('Cadre 支持中文搜索', 'cadre 中文'))
})

test('words of other scripts are kept', () => {
  assert.is(tokenize('Привет, Мир'), 'привет мир')
  assert.is(tokenize('हिन्दी में'), 'हिन्दी में')
  assert.is(tokenize('한국어 문장'), '한국어 문장')
})

test('long text without spaces is tokenized', () => {
  for (const script of ['日本語の文章を検索する', 'พนักงานทุกคนมีสิทธิ์ลา']) {
    const text = script.repeat(Math.ceil(100_000 / script.length))
    assert.ok(tokenize(text).length >= text.length)
    assert.ok(extractContentWords(text).length > 0)
    assert.is(scoreTokenF1(text, text), 1)
  }
})

test('words that span two pieces of a long text are found', () => {
  const text = 'พนักงานทุกคน'.repeat(2_000)
  assert.equal([...new Set(tokenize(text).split(' '))].sort(), ['คน', 'ทุก', 'พนักงาน'])
})

test.run()
