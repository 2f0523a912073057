/** Completion, slash commands and attached files. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { attachFiles, findMentionedFiles, listEntries, MAX_FILE_BYTES } from '../../../src/cli/input/attachments.ts'
import { applyCompletion, findCompletion } from '../../../src/tui/input/completion.ts'
import { COMMANDS, formatHelp, parseCommand } from '../../../src/tui/input/slash-commands.ts'

const test = suite('completion')
const folder = mkdtempSync(join(tmpdir(), 'cadre-files-'))
mkdirSync(join(folder, 'docs'))
writeFileSync(join(folder, 'notes.md'), 'Remember the milk.\n')
writeFileSync(join(folder, 'my file.txt'), 'with a space')
writeFileSync(join(folder, '.hidden'), 'x')
writeFileSync(join(folder, 'docs', 'code.ts'), 'const a = `1`\n```\n')
symlinkSync('docs', join(folder, 'link'))
test.after(() => rmSync(folder, { recursive: true }))

const knowledge = {
  listEntries: (directory: string) => listEntries(folder, directory),
  listNames: (command: string) => (command === 'agent' ? ['Guide', 'Helper'] : []),
}
const labels = (text: string, cursor = text.length) => findCompletion(text, cursor, knowledge)?.options.map(({ label }) => label)
function accept(text: string, choice = 0): string {
  const found = findCompletion(text, text.length, knowledge)
  const option = found?.options[choice]
  assert.ok(found && option, `nothing completes ${text}`)
  const { text: made, cursor } = applyCompletion(text, found, option)
  return `${made.slice(0, cursor)}|${made.slice(cursor)}`
}

test('a slash at the start completes commands by prefix', () => {
  assert.is(labels('/')?.length, COMMANDS.length)
  assert.equal(labels('/ag'), ['/agents', '/agent name'])
  assert.equal(labels('/agent'), ['/agent name', '/agents'], 'an exact match comes first')
  assert.equal([labels('/xyz'), labels('a /ag'), labels('/ag', 0)], [undefined, undefined, undefined])
  assert.equal([accept('/he'), accept('/ti')], ['/help|', '/title |'])
})

test('commands complete their arguments', () => {
  assert.equal([labels('/agent '), labels('/agent h'), labels('/title x')], [['Guide', 'Helper'], ['Helper'], undefined])
  assert.is(accept('/agent h'), '/agent Helper|')
})

test('@ completes paths, directories first and hidden files only after a dot', () => {
  assert.equal(labels('see @'), ['docs/', 'link/', 'my file.txt', 'notes.md'])
  assert.equal([labels('@.'), labels('@NO'), labels('mail@no'), labels('@docs/')], [['.hidden'], ['notes.md'], undefined, ['code.ts']])
  assert.equal(
    [accept('see @no'), accept('@do'), accept('@my'), accept('@docs/')],
    ['see @notes.md |', '@docs/|', '@"my file.txt" |', '@docs/code.ts |'],
  )
  assert.is(labels('@nowhere/'), undefined)
})

test('a completion keeps the text after the cursor', () => {
  const found = findCompletion('@no please', 3, knowledge)
  assert.equal(found?.options[0] && applyCompletion('@no please', found, found.options[0]), { text: '@notes.md please', cursor: 9 })
})

test('quit, exit and :q quit only if they are the whole line', () => {
  const leave = { name: 'quit', argument: '' }
  for (const text of ['quit', 'exit', ':q', ' Quit\n', 'EXIT', '/exit', '/q']) assert.equal(parseCommand(text), leave, text)
  for (const text of ['how do I quit?', 'exit code', 'quit.', 'q', ':quit', 'exit\nnow']) assert.is(parseCommand(text), undefined, text)
  for (const isPlain of [true, false]) assert.match(formatHelp({ isPlain, columns: 80 }), /quit(\*\*)? or /)
})

test('a question mark alone shows the help', () => {
  for (const text of ['?', '/?', ' ? ']) assert.equal(parseCommand(text), { name: 'help', argument: '' }, text)
  for (const text of ['??', 'why?', '? x']) assert.is(parseCommand(text), undefined, text)
})

test('commands are distinguished from messages', () => {
  assert.equal(parseCommand('/title  My talk '), { name: 'title', argument: 'My talk' })
  assert.equal(parseCommand('/QUIT'), { name: 'quit', argument: '' })
  assert.equal(parseCommand('/halp'), { problem: 'Unknown command /halp. Did you mean /help? To list commands: /help' })
  assert.equal(parseCommand('/open-door now'), { problem: 'Unknown command /open-door. To list commands: /help' })
  assert.equal([parseCommand('hello'), parseCommand('/etc/passwd holds what?'), parseCommand(' /help')], [undefined, undefined, undefined])
  for (const { name } of COMMANDS) assert.match(formatHelp({ isPlain: false, columns: 80 }), `/${name}`)
})

test('the help of the plain chat lists only commands that it has', () => {
  const listed = Array.from(formatHelp({ isPlain: true, columns: 80 }).matchAll(/^- \/(\w+)/gm), ([, name]) => name)
  assert.equal(
    COMMANDS.map(({ name }) => name as string).filter((name) => !listed.includes(name)),
    ['copy', 'edit', 'clear'],
  )
})

test('an attached file is fenced so that its text cannot end the fence', () => {
  assert.equal(attachFiles('What is in @notes.md?', folder), {
    message: 'What is in @notes.md?\n\nnotes.md:\n```md\nRemember the milk.\n```',
    images: [],
    files: ['notes.md'],
    documents: [],
    missing: [],
  })
  assert.match(attachFiles('@docs/code.ts', folder).message, '````ts\nconst a = `1`\n```\n````')
  assert.equal(attachFiles('@"my file.txt" and @notes.md, @notes.md', folder).files, ['my file.txt', 'notes.md'])
})

test('an @ without a file is text, and a missing path is reported', () => {
  assert.equal(attachFiles('see @docs/cod.ts.', folder), {
    message: 'see @docs/cod.ts.',
    images: [],
    files: [],
    documents: [],
    missing: [`@docs/cod.ts: no such file: ${join(folder, 'docs/cod.ts')}. Did you mean @docs/code.ts?`],
  })
  assert.equal(attachFiles('ask @ada about @notes.md', folder).files, ['notes.md'])
  assert.equal(attachFiles('write to a@notes.md or @ noon', folder), {
    message: 'write to a@notes.md or @ noon',
    images: [],
    files: [],
    documents: [],
    missing: [],
  })
})

test('an unreadable path is reported and does not throw', () => {
  symlinkSync('loop', join(folder, 'loop'))
  const endless = `@${'x'.repeat(5_000)}`
  assert.equal(findMentionedFiles(`@loop ${endless} @notes.md`, folder), ['notes.md'])
  assert.throws(() => attachFiles('@loop', folder), /^@loop: .*ELOOP/)
  assert.match(attachFiles(endless, folder).missing[0] ?? '', 'no such file')
})

test('images are recognized by their first bytes, whatever their name is', () => {
  const starts = {
    'image/png': Buffer.from('89504e470d0a1a0a00000000', 'hex'),
    'image/jpeg': Buffer.from('ffd8ffe000104a4649460001', 'hex'),
    'image/gif': Buffer.from('GIF89a\0\0\0\0\0\0'),
    'image/webp': Buffer.from('RIFF\0\0\0\0WEBPVP8 '),
  }
  for (const [type, bytes] of Object.entries(starts)) {
    writeFileSync(join(folder, 'image.dat'), bytes)
    const { message, images, files } = attachFiles('Look at @image.dat', folder)
    assert.equal(
      [message, images, files],
      ['Look at @image.dat', [{ type, data: bytes.toString('base64'), path: 'image.dat' }], ['image.dat']],
    )
  }
  writeFileSync(join(folder, 'fake.png'), 'only text')
  assert.equal(attachFiles('@fake.png', folder).images, [])
})

test('documents and texts in other encodings are listed for the daemon to read', () => {
  writeFileSync(join(folder, 'latin.txt'), Buffer.from([0x66, 0xfc, 0x72]))
  for (const name of ['text.pdf', 'Report.DOCX', 'book.epub']) writeFileSync(join(folder, name), '%PDF-1.4\n1 0 obj\n')
  for (const name of ['text.pdf', 'Report.DOCX', 'book.epub', 'latin.txt']) {
    const { message, files, documents } = attachFiles(`Summarize @${name}`, folder)
    assert.equal([message, files], [`Summarize @${name}`, [name]])
    assert.equal(documents, [{ path: name, file: join(folder, name) }])
    assert.equal(findMentionedFiles(`@${name} and @notes.md`, folder), [name, 'notes.md'])
  }
  const { HOME } = process.env
  process.env.HOME = folder
  assert.equal(attachFiles('@~/text.pdf', '/').documents, [{ path: '~/text.pdf', file: join(folder, 'text.pdf') }])
  process.env.HOME = HOME
})

test('a file that is too large, binary or not a regular file is rejected', () => {
  writeFileSync(join(folder, 'long.txt'), 'x'.repeat(MAX_FILE_BYTES + 1))
  writeFileSync(join(folder, 'binary.bin'), Buffer.from([1, 0, 2]))
  assert.throws(() => attachFiles('@long.txt', folder), /long\.txt has .*; .* is the maximum/)
  assert.throws(() => attachFiles('@binary.bin', folder), /binary\.bin is neither a UTF-8 text file nor/)
  assert.throws(() => attachFiles('@docs', folder), /docs is a directory/)
  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, `${name}.txt`), 'y'.repeat(MAX_FILE_BYTES))
  assert.throws(() => attachFiles('@a.txt @b.txt @c.txt', folder), /600,\d+ characters/)
})

test.run()
