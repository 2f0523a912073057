/** Tests of knowledge sources in the private network, which need --allow-private-network. */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'

const test = suite('private addresses at the terminal')
let terminal: Terminal
let server: Server
let page: string

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    const answer = (url: string | undefined) => (url === '/page' ? '<h1>Canteen</h1><p>The canteen opens at eleven.</p>' : undefined)
    server = createServer(({ url }, reply) => {
      const html = answer(url)
      reply.writeHead(html ? 200 : 404, { 'content-type': 'text/html' }).end(html)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    page = `http://127.0.0.1:${(server.address() as AddressInfo).port}/page`
  }),
)
test.after(
  reportFailure(async () => {
    server.close()
    await terminal.close()
  }),
)

const names = async (family: string) => (await terminal.json<{ name: string }[]>([family, 'list'])).map(({ name }) => name)

test('adding a private address fails, explains how to allow it and creates nothing', async () => {
  for (const address of ['https://localhost:1/x', 'http://10.0.0.1/a.git', page]) {
    const { code, stderr } = await terminal.run(['knowledge', 'add', address])
    assert.is(code, 1)
    assert.match(
      stderr,
      /the request was not sent\. To allow it, an admin can set allow_private_network \(--allow-private-network in the CLI\)\./,
    )
    assert.match(stderr, 'Nothing was added. To allow the address, repeat the command with --allow-private-network.')
  }
  const closed = await terminal.run(['knowledge', 'add', 'http://169.254.169.254/latest'])
  assert.match(closed.stderr, /the request was not sent\. This address cannot be allowed\.\nNothing was added\.\n/)
  assert.equal([await names('knowledge'), await names('rag')], [[], []])
})

test('an existing source with a private address is kept, and errors name the commands to allow or delete it', async () => {
  await terminal.json(['knowledge', 'create', '--name', 'Canteen', '--type', 'url', '--configuration', JSON.stringify({ url: page })])
  const command = `cadre knowledge add ${page} --name Canteen --allow-private-network`
  const added = await terminal.run(['knowledge', 'add', page, '--name', 'Canteen'])
  const synced = await terminal.run(['knowledge', 'sync', 'Canteen'])
  for (const { code, stderr } of [added, synced]) {
    assert.is(code, 1)
    for (const hint of [`To allow it: ${command}\n`, 'To delete the source: cadre knowledge delete Canteen\n']) assert.match(stderr, hint)
  }
  const checks = JSON.parse((await terminal.run(['doctor', '--json'])).stdout) as { name: string; fix?: string }[]
  assert.is(
    checks.find(({ name }) => name === 'knowledge')?.fix,
    `Allow it: ${command}. Or delete the source: cadre knowledge delete Canteen`,
  )
})

test('--allow-private-network allows the address of an existing source', async () => {
  const { code, stderr } = await terminal.run(['knowledge', 'add', page, '--name', 'Canteen', '--allow-private-network'])
  assert.is(code, 0, stderr)
  assert.match(stderr, /Canteen: 1 document, 1 passage indexed/)
  assert.equal((await terminal.json(['knowledge', 'show', 'Canteen'])).configuration, { url: page, allow_private_network: true })
})

test('--allow-private-network is rejected for folders and files', async () => {
  for (const target of ['.', 'package.json']) {
    const { code, stderr } = await terminal.run(['knowledge', 'add', target, '--allow-private-network'], { cwd: process.cwd() })
    assert.is(code, 2)
    assert.match(stderr, '--allow-private-network can be used only with URLs and git repositories.')
  }
})

test.run()
