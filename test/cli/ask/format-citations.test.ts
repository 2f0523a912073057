import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatCitations } from '../../../src/cli/ask/format-citations.ts'

const test = suite('citations of a reply')

const format = (source: string, headings?: string) => {
  const citation = { index: 1, source, page: 1, document_id: 'd', content: 'Text.', score: 1, cited: true }
  const citations = [{ ...citation, ...(headings === undefined ? {} : { headings }) }]
  return formatCitations(citations, '', { query: 'text', output: { columns: 80, stream: process.stderr } as never })[1]?.replaceAll(
    /\u001b\[\d+m/g,
    '',
  )
}

test('a citation shows its section', () => {
  assert.is(format('manual.md', 'Leave › Annual'), '[1] manual.md · Leave › Annual')
  assert.is(format('manual.md'), '[1] manual.md')
})

test('the name of the file is not repeated', () => {
  assert.is(format('etc/redis.conf', 'redis.conf › NETWORK'), '[1] etc/redis.conf · NETWORK')
  assert.is(format('debian.csv', 'debian.csv'), '[1] debian.csv')
})

test('the excerpt of a configuration file contains its comments', () => {
  const content = '# The port of the server.\n# It must be free.\nport 6379'
  const citation = { index: 1, source: 'redis.conf', page: 1, document_id: 'd', content, score: 1, cited: true }
  const lines = formatCitations([citation], '', { query: '', output: { columns: 80, stream: process.stderr } as never })
  assert.is(lines.at(-1)?.trim(), 'The port of the server. It must be free. port 6379')
})

test('the excerpt contains the quote, wherever it is in the passage', () => {
  const filler = 'Annual leave of employees is described in this handbook of annual leave. '.repeat(30)
  const quotes = {
    'Nobody works at night. Trains replace planes.':
      'Nobody works at night. **Trains** replace [planes](https://example.com/a/long/address).',
    [`It ${'goes on and '.repeat(60)}ends.`]: `It ${'goes on and '.repeat(60)}ends.`,
    年次有給休暇は毎年付与されます: '年次有給休暇は毎年付与されます',
    'Short.': 'Short.',
  }
  const normalize = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, '')
  for (const [quote, written] of Object.entries(quotes))
    for (const content of [`${filler}${written} ${filler}`, `${written} ${filler}`, `${filler}${written}`])
      for (const columns of [40, 80, 200, Number.POSITIVE_INFINITY]) {
        const citation = { index: 2, source: 'a.md', page: 1, document_id: 'd', content, score: 1, cited: true }
        const reply = `Employees have annual leave [1]. “${quote}” [1, 2]`
        const lines = formatCitations([citation], reply, { query: 'annual leave', output: { columns, stream: process.stderr } as never })
        const excerpt = lines.slice(2).map((line) => line.trim())
        assert.ok(normalize(excerpt.join('')).includes(normalize(written)), `${columns} columns: ${excerpt.join('\n')}`)
        assert.ok(excerpt.join(' ').length < Math.max(320, 3 * columns, 2 * written.length) || columns === Number.POSITIVE_INFINITY)
      }
})

test('the excerpt shows what a reply says in other words', () => {
  const filler = 'Something about trains. '.repeat(60)
  const content = `${filler}Parcels are refunded within a fortnight. ${filler}`
  const citation = { index: 1, source: 'a.md', page: 1, document_id: 'd', content, score: 1, cited: true }
  const output = { columns: 80, stream: process.stderr } as never
  const lines = formatCitations([citation], 'Trains run. A parcel takes a fortnight to be refunded [1].', { query: 'And?', output })
  assert.match(lines.join(' '), 'Parcels are refunded')
})

test.run()
