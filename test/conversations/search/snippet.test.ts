import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createSnippet } from '../../../daemon/conversations/search/create-snippet.ts'
import { parseSearchQuery } from '../../../daemon/conversations/search/search-query.ts'

const test = suite('snippets')

const mark = (content: string, query: string): string => {
  const { text, highlights } = createSnippet(content, parseSearchQuery(query))
  return highlights.reduceRight(
    (marked, { start, end }) => `${marked.slice(0, start)}[${marked.slice(start, end)}]${marked.slice(end)}`,
    text,
  )
}

test('words are highlighted as the index finds them', () => {
  assert.is(mark('Leave, leaves and cleave', 'leave'), '[Leave], [leaves] and cleave')
  assert.is(mark('Le re\u0301sume\u0301 et le résumé', 'resume'), 'Le [résumé] et le [résumé]')
  assert.is(mark('rate_limit and rate, limit', '"rate limit"'), '[rate_limit] and [rate, limit]')
  assert.is(mark('使用iPhone手机', 'iphone 手机'), '使用[iPhone][手机]')
  assert.is(mark('nothing here', 'absent'), 'nothing here')
})

test('a long message is cut between words, around most of the terms', () => {
  const filler = 'lorem ipsum dolor '.repeat(50)
  const text = mark(`${filler}budget ${filler}\n\nthe  budget\tfor travel ${filler}`, 'travel budget')
  assert.match(text, /^….{20,45} the \[budget\] for \[travel\] .*[a-z]…$/)
  assert.ok(text.length <= 190)
})

test('text without spaces is cut between characters', () => {
  const text = mark(`${'😀'.repeat(200)}年假${'😀'.repeat(200)}`, '年假')
  assert.match(text, /^…(?:😀)+\[年假\](?:😀)+…$/u)
  assert.ok(text.isWellFormed())
})

test('a long message is searched', () => {
  assert.type(mark('a'.repeat(500_000), 'aaa'), 'string')
  assert.type(mark('ab '.repeat(150_000), '"ab ab ab ac"'), 'string')
  assert.type(mark(`${'\u20dd'.repeat(200)}y`, `${'\u20dd'.repeat(20)}x`), 'string')
})

test('the words of a long query are limited', () => {
  const [phrase, ...others] = parseSearchQuery(`"${'中'.repeat(400)}" more words`)
  assert.equal([phrase?.words.length, phrase?.isPrefix, others], [100, false, []])
})

test.run()
