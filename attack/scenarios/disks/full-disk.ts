/** A disk that fills up: writes fail with 507, reads and searches work, and nothing acknowledged is lost. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../../test/harness/create-random.ts'
import { spawnDaemon, TOKEN, waitForExit } from '../../../test/harness/daemon.ts'
import type { Json } from '../../../test/harness/test-server.ts'
import type { ClientResponse } from '../../support/client.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../../support/daemon.ts'
import { waitForSyncs } from '../../support/fill-home.ts'
import { type Scenario, scaleAmount } from '../../support/scenario.ts'
import { SmallDisk } from '../../support/small-disk.ts'

const DISK_MEGABYTES = 64
/** Free space after filling, at most. */
const MAX_FREE_BYTES = 1024 * 1024
const WRITES = 60
const START_TIMEOUT_MS = 60_000

interface Written {
  name: string
  id: string
}

export const fullDisk: Scenario = {
  name: 'full-disk',
  promise: 'A full disk rejects writes with 507, does not stop reads and searches, and loses nothing acknowledged.',
  run: (options) =>
    withFolder(async (folder) => {
      const place = join(folder, 'disk')
      mkdirSync(place)
      const rounds = scaleAmount(10, options)
      const amount = `a disk of ${DISK_MEGABYTES} MB filled ${rounds} times`
      const disk = await SmallDisk.mount(place, DISK_MEGABYTES)
      if (disk === undefined) return { amount, figure: '', violations: [], skipped: 'needs Linux with user namespaces (unshare, nsenter)' }
      try {
        return { amount, ...(await attackDisk(disk, join(place, 'home'), rounds, createRandom(options.seed))) }
      } finally {
        await disk.unmount()
      }
    }),
}

async function attackDisk(disk: SmallDisk, home: string, rounds: number, random: () => number) {
  const violations: string[] = []
  const options = { launcher: disk.launcher }
  let daemon = await openDaemon(home, options)
  const { source, tool } = await createKnowledge(daemon)
  const written: Written[] = []
  const counts = { acknowledged: 0, refused: 0, searches: 0 }
  try {
    for (let round = 1; round <= rounds; round++) {
      disk.fill(random() * MAX_FREE_BYTES)
      for (let write = 0; write < WRITES; write++) {
        const name = `round ${round} write ${write}`
        const isDocument = write % 5 === 0
        const path = isDocument ? `/knowledge-sources/${source}/documents` : '/agents'
        const response = await daemon.client.post(path, isDocument ? { name: `${name}.md`, content: `${name} `.repeat(300) } : { name })
        if (response.status === 201) written.push({ name: response.data.name, id: response.data.id })
        else if (response.status !== 507) violations.push(describe(`POST ${path}`, response))
        counts[response.status === 201 ? 'acknowledged' : 'refused']++
        if (write % 10 === 0) {
          counts.searches++
          violations.push(...(await checkReads(daemon, tool)))
        }
      }
      // Every other round is killed while the disk is full.
      if (round % 2 === 0) await daemon.kill()
      else await daemon.stop()
      violations.push(...(await startOnFullDisk(home, disk)))
      disk.free()
      daemon = await openDaemon(home, options)
      violations.push(...(await checkWritten(daemon, source, written)), ...(await checkReads(daemon, tool)))
      const after = await daemon.client.post('/agents', { name: 'after' })
      if (after.status !== 201) violations.push(describe('a write with free space', after))
    }
  } finally {
    await daemon.kill()
  }
  if (counts.refused === 0) violations.push('the disk was never full')
  const writes = `${counts.acknowledged} writes acknowledged, ${counts.refused} rejected with 507`
  return { figure: `${writes}, ${counts.searches} searches; ${violations.length} lost or failed`, violations }
}

const describe = (request: string, { status, text }: ClientResponse) => `${request} returned ${status}: ${text.slice(0, 300)}`

async function createKnowledge({ client }: RunningDaemon): Promise<{ source: string; tool: string }> {
  const { id } = await client.create('/knowledge-sources', { name: 'notes', type: 'file' })
  const tool = await client.create('/retrieval-tools', { name: 'search', knowledge_source_ids: [id], search_method: 'hybrid' })
  await client.create(`/knowledge-sources/${id}/documents`, {
    name: 'leave.md',
    content: '# Leave\n\nYou have twenty-five days of leave.\n',
  })
  await client.post(`/knowledge-sources/${id}/sync`, {})
  await waitForSyncs(client)
  return { source: id, tool: tool.id }
}

async function checkReads({ client }: RunningDaemon, tool: string): Promise<string[]> {
  const problems: string[] = []
  for (const path of ['/agents', '/status', '/knowledge-sources']) {
    const response = await client.get(path)
    if (response.status !== 200) problems.push(describe(`GET ${path}`, response))
  }
  const search = await client.post(`/retrieval-tools/${tool}/search`, { query: 'How many days of leave do I have?' })
  if (search.status !== 200) problems.push(describe('a search', search))
  else if (!JSON.stringify(search.data).includes('twenty-five')) problems.push('a search does not find the document')
  return problems
}

/** A start on a full disk works or says that the disk is full. */
async function startOnFullDisk(home: string, { launcher }: SmallDisk): Promise<string[]> {
  const child = spawnDaemon(home, { token: TOKEN, launcher })
  const exited = waitForExit(child, START_TIMEOUT_MS)
  const ready = new Promise<undefined>((resolve) => child.stdout?.once('data', () => resolve(undefined)))
  const refusal = await Promise.race([ready, exited])
  child.kill('SIGTERM')
  const { code, signal } = await exited
  if (refusal === undefined) return code === 0 ? [] : [`the daemon exited with ${code ?? signal} on a full disk`]
  return /space|full/i.test(refusal.stderr) ? [] : [`a start on a full disk says ${refusal.stderr.slice(0, 300)}`]
}

async function checkWritten({ client }: RunningDaemon, source: string, written: readonly Written[]): Promise<string[]> {
  const found = [...(await client.list('/agents')), ...(await client.list(`/knowledge-sources/${source}/documents`))]
  const ids = new Set(found.map(({ id }: Json) => id))
  return written.filter(({ id }) => !ids.has(id)).map(({ name }) => `${name} was acknowledged and is lost`)
}
