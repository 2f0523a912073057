import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { type OAuthServer, startOAuthServer } from '../../mcp-tools/servers/oauth-server.ts'

const SCRIPT = fileURLToPath(new URL('../../mcp-tools/servers/hostile.mjs', import.meta.url))
const test = suite('MCP servers at the terminal')
let terminal: Terminal
let web: OAuthServer

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    web = await startOAuthServer()
  }),
)
test.after(reportFailure(() => Promise.all([terminal.close(), web.close()])))
const ok = async (words: string[], options?: Parameters<Terminal['run']>[1]) => {
  const ran = await terminal.run(words, options)
  assert.is(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`)
  return ran
}

test('add-mcp shows descriptions, approves the named tools and passes named variables', async () => {
  const words = [
    'tools',
    'add-mcp',
    'demo',
    '--env',
    'CANARY',
    '--tool',
    'echo,environment',
    '--yes',
    '--',
    process.execPath,
    SCRIPT,
    'good',
  ]
  const { stdout, stderr } = await ok(words, { environment: { CANARY: 'canary-secret-value' } })
  assert.match(stderr, /demo \(hostile 1\.0\.0\) offers \d+ tools; 2 selected\./)
  assert.match(stderr, /\+ echo\n +Returns its argument\n +text \(string, optional\)/)
  assert.match(stdout, /demo__echo +yes/)
  assert.match((await ok(['tools', 'test', 'demo__environment'])).stdout, /\bCANARY\b/)
  const listed = await ok(['tools', 'list'])
  assert.match(listed.stdout, /demo__echo +demo +yes/)
  assert.is((await terminal.json<{ name: string }>(['tools', 'show', 'demo__echo'])).name, 'demo__echo')
  const again = await terminal.run(words, { environment: { CANARY: 'x' } })
  assert.match(again.stderr, 'There is already an MCP server "demo".')
  for (const text of [stdout, stderr, listed.stdout]) assert.not.match(text, 'canary-secret')
})

test('tools of a server are assigned to agents, allowed, updated and deleted like API tools', async () => {
  await ok(['agents', 'create', '--name', 'Helper', '--tool', 'demo__echo'])
  assert.match((await ok(['tools', 'allow', 'demo__echo', '--agent', 'Helper'])).stderr, 'Helper calls demo__echo without confirmation.')
  await ok(['tools', 'update', 'demo__echo', '--no-requires-confirmation'])
  assert.is((await terminal.json<{ requires_confirmation: boolean }>(['tools', 'show', 'demo__echo'])).requires_confirmation, false)
  assert.match((await ok(['tools', 'refresh', 'demo', '--tool', 'echo', '--yes'])).stderr, 'There is nothing to approve.')
  assert.match((await ok(['doctor'])).stdout, /tools +1 MCP server/)
  await ok(['tools', 'delete', 'demo__environment', '--yes'])
  assert.match((await ok(['tools', 'servers', 'list'])).stdout, /demo/)
})

test('a server that cannot be used is not kept, and unknown tools and missing commands are explained', async () => {
  const add = (...words: string[]) => terminal.run(['tools', 'add-mcp', ...words])
  const failed = await add('broken', '--yes', '--', process.execPath, SCRIPT, 'exit')
  assert.match(failed.stderr, /The MCP server "broken" exited with code 2: missing configuration/)
  const unknown = await add('other', '--tool', 'ech', '--yes', '--', process.execPath, SCRIPT, 'good')
  assert.match(unknown.stderr, 'other has no tool "ech".')
  assert.equal(
    (await terminal.json<{ name: string }[]>(['tools', 'servers', 'list'])).map(({ name }) => name),
    ['demo'],
  )
  assert.match((await add('none', '--yes')).stderr, 'The command or the URL of the server is missing.')
  assert.match((await add('none', '--', 'sh')).stderr, 'there is no terminal to ask at')
  const hostile = await add('escapes', '--yes', '--', process.execPath, SCRIPT, 'escapes')
  assert.is(hostile.code, 0, hostile.stderr)
  assert.not.match(hostile.stderr + hostile.stdout, /[\u0007\u001b\u202e\u0000]/)
})

test('login opens a browser and receives the redirect', async () => {
  const bin = join(terminal.home, '..', 'browser')
  mkdirSync(bin)
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nexec '${process.execPath}' -e 'fetch(process.argv[1])' "$1"\n`)
  chmodSync(join(bin, 'xdg-open'), 0o755)
  const environment = { PATH: `${bin}${delimiter}${process.env.PATH}` }
  const { stderr } = await ok(['tools', 'add-mcp', 'web', '--url', `${web.origin}/mcp`, '--oauth', '--allow-private-network', '--yes'], {
    environment,
  })
  assert.match(stderr, /Sign in with this address.*\n.*\/authorize\?.*\nSigned in\./)
  assert.match((await ok(['tools', 'test', 'web__greet'])).stdout, 'Hello!')
  assert.match((await ok(['tools', 'login', 'web'], { environment })).stderr, 'Signed in.')
})

test.run()
