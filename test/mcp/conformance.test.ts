import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startAuthorizingProxy } from './authorizing-proxy.ts'
import { McpFixture } from './mcp-fixture.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')
const REGISTER_FS = join(ROOT, 'test/mcp/conformance/register-fs.mjs')

/** Scenarios that need tools, resources and prompts of the reference server, or features that Cadre does not declare. */
const NOT_APPLICABLE = [
  // Deprecated by the 2026-07-28 revision.
  'logging-set-level',
  'tools-call-with-logging',
  'tools-call-sampling',
  // Fixed content of the reference server.
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-with-progress',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  // Requests from the server to the client, which need a stored session.
  'tools-call-elicitation',
  'elicitation-sep1034-defaults',
  'elicitation-sep1330-enums',
  'resources-subscribe',
  'resources-unsubscribe',
  'server-sse-polling',
]

const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address: { type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
  properties: { name: { type: 'string' }, address: { $ref: '#/$defs/address' } },
  additionalProperties: false,
}

const test = suite('MCP conformance')

test('the server suite passes, except for scenarios of features that Cadre does not have', async () => {
  const fixture = await McpFixture.open()
  await fixture.addSource('handbook')
  await fixture.resources.template({ name: 'test_simple_prompt', template: 'This is a simple prompt for testing.' })
  await fixture.resources.template({ name: 'test_prompt_with_arguments', template: "arg1='{{arg1}}', arg2='{{arg2}}'" })
  // Calls to private addresses are blocked, so this one always fails.
  await fixture.resources.apiTool({ name: 'test_error_handling', url: fixture.url, expose_mcp: true })
  await fixture.resources.apiTool({
    name: 'test_simple_text',
    url: `${fixture.url}/api/health`,
    allow_private_network: true,
    expose_mcp: true,
  })
  await fixture.resources.apiTool({ name: 'json_schema_2020_12_tool', parameters: SCHEMA, expose_mcp: true })
  const proxy = await startAuthorizingProxy(fixture.url, await fixture.service.token('admin'))
  const folder = mkdtempSync(join(tmpdir(), 'cadre-conformance-'))
  const expected = join(folder, 'expected.yml')
  writeFileSync(expected, `server:\n${NOT_APPLICABLE.map((scenario) => `  - ${scenario}\n`).join('')}`)
  const words = [SUITE, 'server', '--url', proxy.url, '--suite', 'all', '--expected-failures', expected, '-o', folder]
  const child = spawn(process.execPath, ['--import', REGISTER_FS, ...words], { cwd: folder })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const code = await new Promise((resolve) => child.once('close', resolve))
  await Promise.all([proxy.close(), fixture.close()])
  rmSync(folder, { recursive: true, force: true })
  process.stdout.write(`${output.slice(output.indexOf('=== SUMMARY'))}\n`)
  assert.is(code, 0, output.slice(output.indexOf('=== SUMMARY')))
})

test.run()
