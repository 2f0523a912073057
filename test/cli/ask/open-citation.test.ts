import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findLine, formatTarget, locateCitation } from '../../../src/cli/ask/open-citation.ts'
import { homePaths } from '../../../src/config.ts'

const test = suite<{ home: string }>('opening citations')

test.before.each((context) => {
  context.home = mkdtempSync(join(tmpdir(), 'cadre-open-test-'))
})
test.after.each(({ home }) => rmSync(home, { recursive: true, force: true }))

const HASH = 'ab'.repeat(32)
const TEXT = '# Leave\n\nIntroduction.\n\n## Annual\n\nEveryone gets twenty-five days.\nUnused days expire.\n'

function locate(home: string, source: string, original: string | Buffer | undefined, fields = {}): string {
  const paths = homePaths({ CADRE_HOME: home })
  mkdirSync(join(paths.documents, 'ab'), { recursive: true })
  rmSync(join(paths.documents, 'ab', HASH), { force: true })
  if (original !== undefined) writeFileSync(join(paths.documents, 'ab', HASH), original)
  const content = '## Annual\n\nEveryone gets twenty-five days.\nUnused days expire.'
  const citation = { index: 2, source, page: 1, document_id: 'doc_1', content, score: 1, cited: true, content_hash: HASH, ...fields }
  const target = locateCitation(citation, paths)
  const program = target.kind === 'original' && target.line === undefined ? ' in the viewer' : ''
  return `${target.kind} ${formatTarget(citation, target)}${program}`
}

test('text opens at the line of the passage, other documents at their page', ({ home }) => {
  assert.is(locate(home, 'policies/leave.md', TEXT), 'original policies/leave.md:5')
  assert.is(locate(home, 'leave.pdf', Buffer.from('%PDF\0'), { page: 3 }), 'original leave.pdf, page 3 in the viewer')
  // Programs that open them run what the document contains.
  for (const name of ['page.html', 'macro.js', 'setup.bat', 'notes.command', 'link.desktop'])
    assert.is(locate(home, name, Buffer.from('%PDF-1.4\0'), { page: 3 }), `original ${name}, page 3`)
})

test('web pages open at their address, and documents that are not stored here as the passage', ({ home }) => {
  assert.is(locate(home, 'https://example.com/leave', TEXT), 'url https://example.com/leave')
  assert.is(locate(home, 'leave.md', undefined), 'passage leave.md')
  assert.is(locate(home, 'leave.md', TEXT, { content_hash: '../../../etc/passwd' }), 'passage leave.md')
  assert.is(locate(home, '..', TEXT), 'original ..:5')
})

test('a passage that parsing changed opens at the start', () => {
  assert.is(findLine('completely different text', 'Everyone gets twenty-five days.'), 1)
  assert.is(findLine(TEXT, 'Unused days expire.'), 8)
})

test.run()
