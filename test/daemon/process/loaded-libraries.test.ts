import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DaemonProcess, startDaemon, TOKEN } from '../../harness/daemon.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { waitFor } from '../../harness/wait-for.ts'

const libraries = suite('loaded libraries')
const test = process.platform === 'linux' ? libraries : libraries.skip

const folder = mkdtempSync(join(tmpdir(), 'cadre-libraries-'))
const [home, documents] = [join(folder, 'home'), join(folder, 'documents')]
let daemon: DaemonProcess | undefined

libraries.after(
  reportFailure(async () => {
    await daemon?.stop()
    rmSync(folder, { recursive: true, force: true })
  }),
)

const start = async () => {
  daemon = await startDaemon(home, { token: TOKEN })
  return daemon
}

/** Names the native modules that a process has loaded, without platform and version. */
function listNativeModules({ child }: DaemonProcess): string[] {
  const paths = readFileSync(`/proc/${child.pid}/maps`, 'utf8').match(/\/\S+\.node$/gm) ?? []
  return [...new Set(paths.map((path) => (path.includes('@libsql') ? 'libsql' : (basename(path).split('.')[0] as string))))].sort()
}

test('a started daemon loads LanceDB only when passages are searched or changed', async () => {
  mkdirSync(documents)
  writeFileSync(join(documents, 'oak.md'), 'The oak stands behind the mill.')
  let { get, post, stop } = await start()
  const { id } = (await post('/api/knowledge-sources', { name: 'Trees', type: 'folder', configuration: { path: documents, watch: true } }))
    .body.data
  const tool = (await post('/api/retrieval-tools', { name: 'Trees', knowledge_source_ids: [id], search_method: 'full_text' })).body.data
  const waitForSync = (before: string | null) =>
    waitFor(async () => {
      const { last_sync, progress } = (await get(`/api/knowledge-sources/${id}`)).body.data
      return last_sync !== before && progress === null && (last_sync as string)
    })
  await post(`/api/knowledge-sources/${id}/sync`, {})
  const lastSync = await waitForSync(null)
  await stop()

  const restarted = await start()
  ;({ get, post, stop } = restarted)
  await waitForSync(lastSync) // the folder may have changed
  assert.equal(listNativeModules(restarted), ['libsql'])

  const { results } = (await post(`/api/retrieval-tools/${tool.id}/search`, { query: 'mill' })).body.data
  assert.is(results.length, 1)
  assert.equal(listNativeModules(restarted), ['lancedb', 'libsql'])
})

libraries.run()
