/** Tests of the check for readable documents in a folder, and of folder completion. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { completeFolder, expandHome } from '../../../src/cli/input/complete-folder.ts'
import { SUPPORTED_FILE_TYPES, validateFolder } from '../../../src/cli/knowledge/inspect-folder.ts'
import { DEFAULT_FILE_TYPES } from '../../../src/contract/schemas/source-configurations.ts'

const test = suite('folder inspection')
let place: string
test.before(() => {
  place = mkdtempSync(join(tmpdir(), 'cadre-look-'))
})
test.after(() => rmSync(place, { recursive: true, force: true }))

/** A folder of that name with these files. */
function folder(name: string, files: Record<string, string> = {}): string {
  mkdirSync(join(place, name), { recursive: true })
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(join(place, name, file, '..'), { recursive: true })
    writeFileSync(join(place, name, file), text)
  }
  return join(place, name)
}

const said = async (path: string) => {
  const problem = await validateFolder(path)
  return problem && `${problem.message} ${problem.hint}`.replaceAll(`${place}/`, '')
}

test('a folder with one document at any depth has no problem', async () => {
  assert.is(await said(folder('deep', { 'picture.png': 'x', 'a/b/leave.MD': 'Leave.' })), undefined)
})

test('an empty folder is reported with the supported file types and the next command', async () => {
  const text = (await said(folder('empty'))) ?? ''
  assert.match(text, 'empty has no readable documents: it is empty.')
  assert.match(text, 'pdf, docx, md')
  assert.match(text, 'cadre quickstart ./')
})

test('a folder without documents is reported with what it contains instead', async () => {
  const odd = folder('odd', { 'a.mp3': 'x', 'deep/b.mp4': 'x', 'b.mp3': 'x', Makefile: 'x', 'blank.md': '', '.notes.md': 'x' })
  assert.match((await said(odd)) ?? '', 'only 4 files of unsupported types (.mp3, .mp4, Makefile), 1 empty file, 1 hidden file.')
  const ignored = folder('ignored', { '.gitignore': '*.md\n', 'a.md': 'x', 'node_modules/x/readme.md': 'x' })
  assert.match((await said(ignored)) ?? '', '1 hidden file, 1 in .gitignore, node_modules.')
})

test('a missing folder, a file and a URL are reported with the command that works', async () => {
  folder('handbook', { 'leave.md': 'Leave.' })
  assert.match((await said(join(place, 'handbok'))) ?? '', 'There is no folder handbok. Did you mean this one? cadre quickstart handbook')
  assert.match((await said(join(place, 'nowhere'))) ?? '', 'There is no folder nowhere.')
  assert.match(
    (await said(join(place, 'handbook/leave.md'))) ?? '',
    'is a file, not a folder. To add this file: cadre knowledge add handbook/leave.md',
  )
  assert.match((await said('https://example.com/manual')) ?? '', 'cadre knowledge add https://example.com/manual')
  assert.match(
    (await said(join(place, 'handbook/leave.md/more'))) ?? '',
    'leave.md/more cannot be read: a part of the path is a file. Specify an existing',
  )
  symlinkSync('round', join(place, 'round'))
  assert.match((await said(join(place, 'round'))) ?? '', 'round cannot be read: ')
})

test('the supported file types in messages are read by default', () => {
  for (const kind of SUPPORTED_FILE_TYPES) assert.ok((DEFAULT_FILE_TYPES as readonly string[]).includes(kind), kind)
})

test('completion offers only folders with the typed prefix', () => {
  const root = folder('choice', { 'handbook/a.md': '', 'hand made/b.md': '', 'hand.txt': '', '.hidden/c.md': '' })
  symlinkSync(join(root, 'handbook'), join(root, 'handle'))
  for (const [to, name] of [
    ['hands', 'hands'],
    ['nowhere', 'handless'],
  ] as const)
    symlinkSync(to, join(root, name))
  mkdirSync(join(root, 'hand\u001b[2J'))
  assert.equal(completeFolder(`${root}/ha`), [['hand made/', 'handbook/', 'handle/'], 'ha'])
  assert.equal(completeFolder(`"${root}/hand m`), [['hand made/'], 'hand m'])
  assert.equal(completeFolder(`${root}/.h`), [['.hidden/'], '.h'])
  assert.equal(completeFolder(`${root}/nothing/x`), [[], 'x'])
})

test('a tilde expands to the home folder, alone or before a path', () => {
  assert.equal(
    ['~', '~/notes', '~other', 'a~/b'].map((path) => expandHome(path, '/home/$&ada')),
    ['/home/$&ada', '/home/$&ada/notes', '~other', 'a~/b'],
  )
  assert.equal(completeFolder('~'), [['~/'], '~'])
})

test.run()
