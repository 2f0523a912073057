import { execFile } from 'node:child_process'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { McpFixture } from './mcp-fixture.ts'
import { findPackageFile } from './optional-package.ts'

const INSPECTOR = findPackageFile('@modelcontextprotocol/inspector', 'clients/launcher/build/index.js')
/** It needs Node 22.19. */
const canRun = INSPECTOR !== undefined && Number(process.versions.node.split('.')[0]) >= 22

const test = suite('MCP inspector')

;(canRun ? test : test.skip)('the inspector finds no errors in the tools and calls one', async () => {
  const fixture = await McpFixture.open()
  await fixture.addSource('handbook')
  const token = await fixture.service.token('admin')
  const inspect = (...words: string[]) =>
    new Promise<{ failed: boolean; stdout: string }>((resolve) => {
      const target = ['--cli', `${fixture.url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${token}`]
      execFile(process.execPath, [INSPECTOR as string, ...target, ...words], (error, stdout) => resolve({ failed: error !== null, stdout }))
    })
  const listed = await inspect('--method', 'tools/list', '--strict')
  const called = await inspect('--method', 'tools/call', '--tool-name', 'search', '--tool-arg', 'query=leave')
  await fixture.close()
  assert.equal([listed.failed, called.failed], [false, false])
  assert.match(called.stdout, 'twenty-five days')
})

test.run()
