import { chmodSync, existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MCP_CLIENT_NAMES, MCP_CLIENTS } from '../../../src/cli/mcp/clients.ts'
import { editConfiguration } from '../../../src/cli/mcp/edit-configuration.ts'
import { openTerminal, type Terminal } from '../../harness/cli.ts'

const test = suite<{ terminal: Terminal; home: string }>('cadre mcp install')

test.before.each((context) => {
  context.terminal = openTerminal()
  context.home = dirname(context.terminal.home)
})
test.after.each(({ terminal }) => terminal.close())

const entry = { command: 'cadre', args: ['mcp'] }
const edit = (text: string) => editConfiguration('f.json', text, 'mcpServers', 'cadre', entry)

test('an entry is added, and the rest of the file stays as it is', () => {
  const before = '{\n\t// my servers\n\t"mcpServers": { // all\n\t\t"other": { "command": "x" }, // keep\n\t},\n\t"theme": "dark"\n}\n'
  const after = edit(before)
  const lines = ['\t\t"cadre": {', '\t\t\t"command": "cadre",', '\t\t\t"args": [', '\t\t\t\t"mcp"', '\t\t\t]', '\t\t},']
  assert.is(after, before.replace('// all\n', `// all\n${lines.join('\n')}\n`))
  assert.is(edit(after), after, 'a second change changes nothing')
  const kept = {
    '{"a":1}': '"a":1}',
    '{ "mcpServers": {"a":1} }': '"a":1} }',
    '{\n  "mcpServers": {\n    // none\n  }\n}': '    // none\n  }\n}',
  }
  for (const [text, end] of Object.entries({ ...kept, '{ /* x */ "a": [1,] }': '"a": [1,] }' })) {
    const edited = edit(text)
    assert.ok(edited.endsWith(end), edited)
    assert.is(edit(edited), edited)
  }
})

test('an entry is replaced, and an empty or missing file becomes an object', () => {
  assert.equal(JSON.parse(edit('{"mcpServers":{"cadre":{"command":"old"}}}')).mcpServers.cadre, entry)
  for (const text of ['', ' \n', '{}']) assert.equal(JSON.parse(edit(text)), { mcpServers: { cadre: entry } })
  assert.match(edit('\uFEFF{\r\n  "a": 1\r\n}\r\n'), /^\uFEFF\{\r\n {2}"mcpServers": \{\r\n[\s\S]*\r\n {2}"a": 1\r\n\}\r\n$/)
})

test('a damaged file is refused with the line of the problem', () => {
  const getProblem = (text: string): string => {
    try {
      return edit(text)
    } catch (error) {
      return (error as Error).message
    }
  }
  assert.is(getProblem('{\n  "a": 1\n  "b": 2\n}'), 'f.json is not valid JSON: CommaExpected in line 3. It was not changed.')
  assert.match(getProblem('{"a": '), 'is not valid JSON')
  assert.is(getProblem('[]'), 'f.json does not contain an object. It was not changed.')
  assert.is(getProblem('{"mcpServers": []}'), 'f.json does not contain an object in "mcpServers". It was not changed.')
})

test('the change is shown, confirmed and written at once, with the mode and the link of the file', async ({ terminal, home }) => {
  const settings = join(home, 'dotfiles', 'claude.json')
  mkdirSync(dirname(settings))
  writeFileSync(settings, '{\n  "numStartups": 3\n}\n')
  chmodSync(settings, 0o640)
  symlinkSync(settings, join(home, '.claude.json'))

  const unconfirmed = await terminal.run(['mcp', 'install', 'claude'])
  assert.is(unconfirmed.code, 2)
  assert.match(unconfirmed.stderr, '+   "mcpServers": {')
  assert.match(unconfirmed.stderr, 'add --yes')
  assert.not.match(unconfirmed.stderr, /^ +$/m)
  assert.is((await terminal.run(['mcp', 'install', 'claude', '--dry-run'])).code, 0)
  assert.is(readFileSync(settings, 'utf8'), '{\n  "numStartups": 3\n}\n')

  const { code, stderr } = await terminal.run(['mcp', 'install', 'claude', '--yes'])
  assert.is(code, 0, stderr)
  assert.match(stderr, 'Claude Code can use Cadre now.')
  const written = JSON.parse(readFileSync(settings, 'utf8'))
  assert.is(written.numStartups, 3)
  const { type, command, args, env } = written.mcpServers.cadre
  assert.equal([type, command, args[1], env], ['stdio', process.execPath, 'mcp', { CADRE_HOME: terminal.home }])
  assert.ok(existsSync(args[0]))
  assert.is(statSync(settings).mode & 0o777, 0o640)
  assert.ok(lstatSync(join(home, '.claude.json')).isSymbolicLink())
  assert.match((await terminal.run(['mcp', 'install', 'claude', '--yes'])).stderr, 'already uses Cadre')
})

test('every client has a file, and its configuration is printed', async ({ terminal, home }) => {
  for (const name of MCP_CLIENT_NAMES) {
    const { property } = MCP_CLIENTS[name]
    const { file, changed } = await terminal.json<{ file: string; changed: boolean }>(['mcp', 'install', name, '--yes'])
    assert.ok(changed && file.startsWith(home), file)
    const printed = JSON.parse((await terminal.run(['mcp', 'config', name])).stdout)
    assert.equal(JSON.parse(readFileSync(file, 'utf8')), printed)
    assert.ok(printed[property].cadre)
  }
  const http = JSON.parse((await terminal.run(['mcp', 'config', 'claude', '--http'])).stdout).mcpServers.cadre
  assert.equal(http, { type: 'http', url: 'http://127.0.0.1:7411/mcp', headers: { Authorization: 'Bearer <ACCESS_TOKEN>' } })
})

test('the variables that select the daemon are written, but no token', async ({ terminal, home }) => {
  const environment = { CADRE_PORT: '7499', CADRE_TOKEN: 'secret' }
  assert.is((await terminal.run(['mcp', 'install', 'cursor', '--yes'], { environment })).code, 0)
  const { env } = JSON.parse(readFileSync(join(home, '.cursor', 'mcp.json'), 'utf8')).mcpServers.cadre
  assert.equal(env, { CADRE_HOME: terminal.home, CADRE_PORT: '7499' })
})

test('a project gets a configuration without paths of this machine', async ({ terminal, home }) => {
  const environment = { PATH: dirname(terminal.command) }
  assert.is((await terminal.run(['mcp', 'install', 'vscode', '--project', '--yes'], { environment })).code, 0)
  const { servers } = JSON.parse(readFileSync(join(home, '.vscode', 'mcp.json'), 'utf8'))
  assert.equal(servers.cadre, { type: 'stdio', command: 'cadre', args: ['mcp'] })
  const { code, stderr } = await terminal.run(['mcp', 'install', 'windsurf', '--project', '--yes'])
  assert.is(code, 2)
  assert.match(stderr, 'Windsurf has no configuration for projects.')
})

test('a project gets paths of this machine if cadre is not on the PATH', async ({ terminal, home }) => {
  const environment = { PATH: `${home}:/no/such/folder` }
  mkdirSync(join(home, 'cadre'))
  const { code, stderr } = await terminal.run(['mcp', 'install', 'cursor', '--project', '--yes'], { environment })
  assert.is(code, 0)
  assert.match(stderr, 'cadre is not on your PATH')
  const { command, args, env } = JSON.parse(readFileSync(join(home, '.cursor', 'mcp.json'), 'utf8')).mcpServers.cadre
  assert.equal([command, args[1], env], [process.execPath, 'mcp', { CADRE_HOME: terminal.home }])
  assert.ok(existsSync(args[0]))
})

test.run()
