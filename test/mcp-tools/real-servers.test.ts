import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'
import { McpToolsFixture } from './mcp-tools-fixture.ts'

const PACKAGES = fileURLToPath(new URL('../../node_modules/@modelcontextprotocol', import.meta.url))

const test = suite('MCP servers from npm')
let fixture: McpToolsFixture
let folder: string

test.before(
  reportFailure(async () => {
    fixture = await McpToolsFixture.open()
    folder = mkdtempSync(join(tmpdir(), 'cadre-mcp-'))
    writeFileSync(join(folder, 'note.md'), 'The meeting is on Friday.')
  }),
)
test.after(
  reportFailure(async () => {
    await fixture.close()
    rmSync(folder, { recursive: true, force: true })
  }),
)

test('server-filesystem reads files of its folder only', async () => {
  const server = await fixture.addServer('', { args: [join(PACKAGES, 'server-filesystem/dist/index.js'), folder] })
  const [read, write] = await fixture.approve(server, 'read_text_file', 'write_file')
  assert.match((await expectData(fixture.call(read as string, { path: join(folder, 'note.md') }))).result, 'The meeting is on Friday.')
  await expectError(fixture.call(read as string, { path: '/etc/passwd' }), 'PROVIDER_ERROR', { error: /denied|outside/i })
  await expectError(fixture.call(read as string, { file: 'x' }), 'VALIDATION_ERROR')
  assert.is((await expectData(fixture.service.get(`/mcp-tools/${write}`))).requires_confirmation, true)
})

test('server-everything lists its tools, and calls return text', async () => {
  const server = await fixture.addServer('', { args: [join(PACKAGES, 'server-everything/dist/index.js'), 'stdio'] })
  const { server: about, tools } = await expectData(fixture.discover(server.id))
  assert.match(about.name, 'everything')
  assert.equal(
    tools.filter(({ problem }: Json) => problem !== null),
    [],
  )
  const [echo, image] = await fixture.approve(server, 'echo', 'get-tiny-image')
  assert.match((await expectData(fixture.call(echo as string, { message: 'hello' }))).result, 'hello')
  assert.match((await expectData(fixture.call(image as string))).result, '[image of type image/png, not shown]')
})

test.run()
