/** Which format a file gets. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findExportFormat } from '../../../src/cli/conversations/format-export.ts'

const test = suite('formats of exported conversations')

test('the extension selects the format, in any case', () => {
  assert.equal(['a.md', 'b.json', 'notes/c.HTML', 'd.txt', 'html'].map(findExportFormat), ['md', 'json', 'html', undefined, undefined])
})

test.run()
