/** A folder is looked into before anything is made of it, and its name is completed while it is typed. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { completedFolder, withHome } from '../../../src/cli/input/folder-completion.ts'
import { findFolderProblem, SUPPORTED_FILE_TYPES } from '../../../src/cli/knowledge/inspect-folder.ts'
import { DEFAULT_FILE_TYPES } from '../../../src/contract/families/knowledge-sources.ts'

const test = suite('folder look')
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
  const problem = await findFolderProblem(path)
  return problem && `${problem.message} ${problem.hint}`.replaceAll(`${place}/`, '')
}

test('one document, however deep, is enough', async () => {
  assert.is(await said(folder('deep', { 'picture.png': 'x', 'a/b/leave.MD': 'Leave.' })), undefined)
})

test('an empty folder says so, with what is read and what to type', async () => {
  const text = (await said(folder('empty'))) ?? ''
  assert.match(text, 'There is nothing to read in empty: it is empty.')
  assert.match(text, 'pdf, docx, md')
  assert.match(text, 'cadre quickstart ./')
})

test('what is there instead of documents is told', async () => {
  const odd = folder('odd', { 'a.png': 'x', 'deep/b.mp4': 'x', 'b.png': 'x', Makefile: 'x', 'blank.md': '', '.notes.md': 'x' })
  assert.match((await said(odd)) ?? '', 'it has only 4 files of another kind (.mp4, .png, Makefile), 1 empty file, 1 hidden file.')
  const ignored = folder('ignored', { '.gitignore': '*.md\n', 'a.md': 'x', 'node_modules/x/readme.md': 'x' })
  assert.match((await said(ignored)) ?? '', '1 hidden file, 1 that .gitignore names, node_modules.')
})

test('a folder that is not there is told from a file and from an address, each with the command that works', async () => {
  folder('handbook', { 'leave.md': 'Leave.' })
  assert.match((await said(join(place, 'handbok'))) ?? '', 'There is no folder handbok. Did you mean this one? cadre quickstart handbook')
  assert.match((await said(join(place, 'nowhere'))) ?? '', 'There is no folder nowhere.')
  assert.match(
    (await said(join(place, 'handbook/leave.md'))) ?? '',
    'is a file, not a folder. To read this file: cadre knowledge add handbook/leave.md',
  )
  assert.match((await said('https://example.com/manual')) ?? '', 'cadre knowledge add https://example.com/manual')
  assert.match(
    (await said(join(place, 'handbook/leave.md/more'))) ?? '',
    'leave.md/more cannot be read: a part of the path is a file. Name one',
  )
  symlinkSync('round', join(place, 'round'))
  assert.match((await said(join(place, 'round'))) ?? '', 'round cannot be read: ')
})

test('the kinds that are named are kinds that are read', () => {
  for (const kind of SUPPORTED_FILE_TYPES) assert.ok((DEFAULT_FILE_TYPES as readonly string[]).includes(kind), kind)
})

test('folders are completed by their beginning, and nothing else is', () => {
  const root = folder('choice', { 'handbook/a.md': '', 'hand made/b.md': '', 'hand.txt': '', '.hidden/c.md': '' })
  symlinkSync(join(root, 'handbook'), join(root, 'handle'))
  for (const [to, name] of [
    ['hands', 'hands'],
    ['nowhere', 'handless'],
  ] as const)
    symlinkSync(to, join(root, name))
  mkdirSync(join(root, 'hand\u001b[2J'))
  assert.equal(completedFolder(`${root}/ha`), [['hand made/', 'handbook/', 'handle/'], 'ha'])
  assert.equal(completedFolder(`"${root}/hand m`), [['hand made/'], 'hand m'])
  assert.equal(completedFolder(`${root}/.h`), [['.hidden/'], '.h'])
  assert.equal(completedFolder(`${root}/nothing/x`), [[], 'x'])
})

test('a tilde is the home, alone or before a path', () => {
  assert.equal(
    ['~', '~/notes', '~other', 'a~/b'].map((path) => withHome(path, '/home/$&ada')),
    ['/home/$&ada', '/home/$&ada/notes', '~other', 'a~/b'],
  )
  assert.equal(completedFolder('~'), [['~/'], '~'])
})

test.run()
