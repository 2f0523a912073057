/** Tests of the lists of documents at the terminal. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('documents at the terminal')
let terminal: Terminal
let place: string
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    place = mkdtempSync(join(tmpdir(), 'cadre-documents-'))
    mkdirSync(join(place, 'my docs', 'notes'), { recursive: true })
    writeFileSync(join(place, 'my docs', 'notes', 'bicycle.md'), '# Bicycle\n\nThe bicycle has a bell.\n')
    writeFileSync(join(place, 'my docs', 'song.mp3'), 'sound')
    await terminal.run(['knowledge', 'add', 'my docs'], { cwd: place })
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    rmSync(place, { recursive: true, force: true })
  }),
)

const list = (...words: string[]) => terminal.run(['knowledge', 'documents', 'list', 'my docs', ...words])

test('a list of documents says that files were skipped and how to list them', async () => {
  const { stdout, stderr } = await list()
  assert.match(stdout, /PASSAGES/i)
  assert.not.match(stdout, /CHUNKS|song/i)
  assert.match(stderr, "1 file was skipped: cadre knowledge documents list 'my docs' --filter status=skipped\n")
  const skipped = await list('--filter', 'status=skipped')
  assert.match(skipped.stdout, 'song.mp3')
  assert.not.match(skipped.stderr, 'was skipped:')
  assert.is((await list('--filter', 'status=failed')).stderr, 'No documents match.\n')
})

test('a document can be named without its folder only in a suggestion', async () => {
  const { code, stderr } = await terminal.run(['knowledge', 'documents', 'show', 'my docs', 'bicycle.md'])
  assert.is(code, 3)
  assert.match(stderr, "Did you mean notes/bicycle.md? List the documents: cadre knowledge documents list 'my docs'")
  assert.match((await terminal.run(['knowledge', 'documents', 'show', 'my docs', 'notes/bicycle.md'])).stdout, /^passages +1$/m)
})

test.run()
