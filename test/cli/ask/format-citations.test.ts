import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatCitations } from '../../../src/cli/ask/format-citations.ts'

const test = suite('citations of a reply')

const format = (source: string, headings?: string) => {
  const citation = { index: 1, source, page: 1, document_id: 'd', content: 'Text.', score: 1, cited: true }
  const citations = [{ ...citation, ...(headings === undefined ? {} : { headings }) }]
  return formatCitations(citations, { query: 'text', output: { columns: 80, stream: process.stderr } as never })[1]?.replaceAll(
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

test.run()
