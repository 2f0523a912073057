/** Tests of credentials of git repositories: they are stored apart from the URL and never printed. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const TOKEN = 'canary-cli-4Vv9'
const PLAIN = 'https://example.invalid/team/wiki.git'

const test = suite('repositories with a login at the terminal')
let terminal: Terminal

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
  }),
)
test.after(reportFailure(() => terminal.close()))

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

test('knowledge add rejects invalid credentials before starting a daemon', async () => {
  const add = (...words: string[]) => run(['knowledge', 'add', ...words], {}, 2)
  assert.match(await add(`https://ada:${TOKEN}@example.invalid/page`), 'credentials, which are not supported for web pages')
  assert.match(await add(`https://ada:${TOKEN}@example.invalid/a.git`, '--token', 'env:NOT_SET_ANYWHERE'), 'NOT_SET_ANYWHERE')
  assert.match(
    await add(`https://ada:${TOKEN}@example.invalid/a.git`, '--token', 'another'),
    'The URL contains credentials and --token is set',
  )
  assert.match(await add(PLAIN, '--username', 'ada'), '--username requires --token')
  assert.match(await add('https://example.invalid/page', '--token', TOKEN), '--token can be used only with git repositories')
})

test('credentials in the URL are stored as auth, and adding the URL again updates the source', async () => {
  for (const login of [`ada:${TOKEN}`, TOKEN]) {
    await run(['knowledge', 'add', PLAIN.replace('//', `//${login}@`), '--no-wait', '--json'])
    assert.equal(await source('wiki'), [PLAIN, { type: 'basic' }])
  }
  assert.is((await terminal.json<object[]>(['knowledge', 'list'])).length, 1)
})

test('--token reads a token from the flag, the environment or a file', async () => {
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

test('knowledge create rejects credentials in the URL, and --auth sets and removes them', async () => {
  const refused = await run(['knowledge', 'create', '--name', 'x', '--repository', PLAIN.replace('//', `//ada:${TOKEN}@`)], {}, 2)
  assert.match(refused, /must not contain a user name, password or token[\s\S]*Send them as auth/)
  await run(['knowledge', 'create', '--name', 'x', '--repository', PLAIN, '--auth', 'type=bearer', '--auth', `token=${TOKEN}`])
  assert.equal(await source('x'), [PLAIN, { type: 'bearer' }])
  await run(['knowledge', 'update', 'x', '--auth', 'type=none'])
  assert.equal(await source('x'), [PLAIN, { type: 'none' }])
})

test('an export names variables instead of credentials, and plan reports no changes', async () => {
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
