import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { build } from 'esbuild'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { document } from '../harness/check-response.ts'
import { startDaemon, TOKEN } from '../harness/daemon.ts'
import { reportFailure } from '../harness/hooks.ts'
import type { Json } from '../harness/test-server.ts'

const test = suite('generated clients')
const run = promisify(execFile)
const locate = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'cadre-clients-'))
let clients: Json

test.before(
  reportFailure(async () => {
    for (const name of ['use-clients.mts', 'tsconfig.json']) cpSync(locate(`test/contract/clients/${name}`), join(folder, name))
    await run(process.execPath, [locate('test/contract/clients/generate-clients.mjs'), locate('docs/openapi.json'), folder])
  }),
)
test.after(() => rmSync(folder, { recursive: true, force: true }))

test('the clients compile in strict mode, with the smallest body of every request', async () => {
  // Several threads check shared types again and take twice the CPU time.
  const compile = [locate('node_modules/typescript/bin/tsc'), '--singleThreaded', '-p', folder]
  const { stdout } = await run(process.execPath, compile).catch((error) => error)
  assert.is(stdout, '')
  const outfile = join(folder, 'use-clients.mjs')
  await build({ entryPoints: [join(folder, 'use-clients.mts')], outfile, bundle: true, format: 'esm', logLevel: 'silent' })
  clients = await import(pathToFileURL(outfile).href)
})

test('the bodies are those of all requests, are valid and have required fields only', () => {
  const { paths, components } = document as Json
  const operations = Object.values(paths).flatMap((methods) => Object.values(methods as Json)) as Json[]
  const names = operations.flatMap(({ requestBody }) => requestBody?.content['application/json'].schema.$ref?.split('/').at(-1) ?? [])
  assert.equal(Object.keys(clients.bodies).sort(), [...new Set(names)].sort())
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'openapi')
  for (const [name, body] of Object.entries(clients.bodies as Json)) {
    const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` })
    assert.ok(validate(body), `${name}: ${ajv.errorsText(validate.errors)}`)
    const { properties, required = [] } = components.schemas[name]
    if (properties) assert.equal(Object.keys(body as Json).sort(), [...required].sort(), name)
  }
})

test('the clients make calls and read a stream of a real daemon', async () => {
  const home = join(folder, 'home')
  const daemon = await startDaemon(home, { token: TOKEN })
  try {
    const { rendered, reply, conversationId, stream } = await clients.callWithSdk(daemon.url, TOKEN)
    assert.is(rendered, 'Be kind.')
    assert.equal([reply.role, reply.finish_reason], ['assistant', 'stop'])
    assert.equal([...new Set(stream.names)], ['message_start', 'message_delta', 'message_end'])
    assert.equal([stream.text, stream.last], [reply.content, reply])
    const { agents, text, citations } = await clients.callWithTypes(daemon.url, TOKEN, conversationId)
    assert.equal([agents, citations], [['Helper'], []])
    assert.ok(text.length > 0)
  } finally {
    await daemon.stop()
  }
})

test.run()
