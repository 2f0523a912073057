/** Repositories that want a login, from the terminal: the address is kept without it, and nothing prints it. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { aloud } from '../../harness/hooks.ts'

const TOKEN = 'canary-cli-4Vv9'
const PLAIN = 'https://example.invalid/team/wiki.git'

const test = suite('repositories with a login at the terminal')
let terminal: Terminal

test.before(
  aloud(async () => {
    terminal = openTerminal()
  }),
)
test.after(aloud(() => terminal.close()))

async function run(words: string[], options?: Parameters<Terminal['run']>[1], code = 0): Promise<string> {
  const ran = await terminal.run(words, options)
  assert.is(ran.code, code, `${words.join(' ')}: ${ran.stderr}`)
  assert.not.match(`${ran.stdout} ${ran.stderr}`, TOKEN)
  return ran.stderr
}
const source = async (name: string) => {
  const { configuration, auth } = await terminal.json<{ configuration: { repository: string }; auth: object }>(['knowledge', 'show', name])
  return [configuration.repository, auth]
}

test('mistakes are told before a daemon is started for them', async () => {
  const add = (...words: string[]) => run(['knowledge', 'add', ...words], {}, 2)
  assert.match(await add(`https://ada:${TOKEN}@example.invalid/page`), 'pages that want one cannot be read')
  assert.match(await add(`https://ada:${TOKEN}@example.invalid/a.git`, '--token', 'env:NOT_SET_ANYWHERE'), 'NOT_SET_ANYWHERE')
  assert.match(await add(`https://ada:${TOKEN}@example.invalid/a.git`, '--token', 'another'), '--token is another one')
  assert.match(await add(PLAIN, '--username', 'ada'), '--username goes with --token')
  assert.match(await add('https://example.invalid/page', '--token', TOKEN), '--token is for git repositories')
})

test('a login in the address is sealed and not part of it; adding it again finds the source again', async () => {
  for (const login of [`ada:${TOKEN}`, TOKEN]) {
    await run(['knowledge', 'add', PLAIN.replace('//', `//${login}@`), '--no-wait', '--json'])
    assert.equal(await source('wiki'), [PLAIN, { type: 'basic' }])
  }
  assert.is((await terminal.json<object[]>(['knowledge', 'list'])).length, 1)
})

test('a token comes from a flag, a variable or a file', async () => {
  await run(['knowledge', 'add', PLAIN, '--name', 'flag', '--token', TOKEN, '--no-wait'])
  await run(['knowledge', 'add', PLAIN, '--name', 'variable', '--token', 'env:WIKI_TOKEN', '--username', 'ada', '--no-wait'], {
    environment: { WIKI_TOKEN: TOKEN },
  })
  const place = join(terminal.home, '..', 'files')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(place, 'token'), `${TOKEN}\n`)
  await run(['knowledge', 'add', PLAIN, '--name', 'file', '--token', '@token', '--no-wait'], { cwd: place })
  for (const name of ['flag', 'variable', 'file']) assert.equal(await source(name), [PLAIN, { type: 'basic' }])
})

test('what the service refuses names the field, and auth is changed by a flag', async () => {
  const refused = await run(['knowledge', 'create', '--name', 'x', '--repository', PLAIN.replace('//', `//ada:${TOKEN}@`)], {}, 2)
  assert.match(refused, /must not hold a user name, password or token[\s\S]*Give them as auth/)
  await run(['knowledge', 'create', '--name', 'x', '--repository', PLAIN, '--auth', 'type=bearer', '--auth', `token=${TOKEN}`])
  assert.equal(await source('x'), [PLAIN, { type: 'bearer' }])
  await run(['knowledge', 'update', 'x', '--auth', 'type=none'])
  assert.equal(await source('x'), [PLAIN, { type: 'none' }])
})

test('an export names the variables, and is what is there without them', async () => {
  const place = join(terminal.home, '..', 'exported')
  await run(['export', '--to', place])
  assert.match(
    readFileSync(join(place, 'knowledge-sources/flag.yaml'), 'utf8'),
    'password: ${env:CADRE_KNOWLEDGE_SOURCE_FLAG_AUTH_PASSWORD}',
  )
  for (const file of readdirSync(join(place, 'knowledge-sources')))
    assert.not.match(readFileSync(join(place, 'knowledge-sources', file), 'utf8'), TOKEN)
  await run(['plan', '-f', place, '--check'])
})

test.run()
