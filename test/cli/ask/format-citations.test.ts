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

test('the excerpt of a configuration file contains its comments', () => {
  const content = '# The port of the server.\n# It must be free.\nport 6379'
  const citation = { index: 1, source: 'redis.conf', page: 1, document_id: 'd', content, score: 1, cited: true }
  const lines = formatCitations([citation], { query: '', output: { columns: 80, stream: process.stderr } as never })
  assert.is(lines.at(-1)?.trim(), 'The port of the server. It must be free. port 6379')
})

test.run()
