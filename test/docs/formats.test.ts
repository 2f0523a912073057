import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DEFAULT_FILE_TYPES } from '../../src/contract/schemas/source-configurations.ts'

const test = suite('formats in the guide')

test('the guide lists exactly the file types that are read by default', () => {
  const guide = readFileSync(new URL('../../docs/guides/your-documents.md', import.meta.url), 'utf8')
  const [, table = ''] = /\n## Formats\n([\s\S]*?)(?=\n## |$)/.exec(guide) ?? []
  const listed = table.split('\n').flatMap((line) => {
    const cell = /^\| (`[^|]*) \|/.exec(line)?.[1] ?? ''
    return Array.from(cell.matchAll(/`(\w+)`/g), ([, type = '']) => type)
  })
  assert.equal(listed.sort(), [...DEFAULT_FILE_TYPES].sort())
})

test.run()
