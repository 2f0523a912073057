/** `knowledge languages` against a real daemon. npm reaches no registry. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getRecognitionFiles } from '../../../daemon/knowledge/recognition/recognition-files.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('languages at the terminal')
let terminal: Terminal
let folder: string

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    folder = mkdtempSync(join(tmpdir(), 'cadre-languages-'))
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    rmSync(folder, { recursive: true, force: true })
  }),
)

const run = (...words: string[]) => terminal.run(['knowledge', 'languages', ...words])

test('a language is added from a file, listed by its name and removed', async () => {
  const added = await run('add', 'sco', '--from', getRecognitionFiles().english)
  assert.is(added.code, 0, added.stderr)
  assert.match(added.stderr, /Text is now recognised in Scots too\..*--recognize-again/s)
  assert.match((await run('list')).stdout, /eng +English .* yes\nsco +Scots .* no/)
  assert.is((await run('remove', 'sco')).code, 0)
  assert.not.match((await run('list')).stdout, 'sco')
})

test('what cannot be added has a reason and what to do', async () => {
  writeFileSync(join(folder, 'deu.traineddata'), 'something else')
  const damaged = await run('add', 'deu', '--from', join(folder, 'deu.traineddata'))
  assert.match(damaged.stderr, 'This is not language data of Tesseract 4 or later')
  assert.match((await run('add', 'German')).stderr, /"German" is not the code of a language\.\n.*deu for German/)
  const registry = { npm_config_registry: 'http://127.0.0.1:9', npm_config_fetch_retries: '0' }
  const offline = await terminal.run(['knowledge', 'languages', 'add', 'deu'], { environment: registry })
  assert.is(offline.code, 1)
  assert.match(offline.stderr, /npm.*\n.*--from deu\.traineddata/)
})

test.run()
