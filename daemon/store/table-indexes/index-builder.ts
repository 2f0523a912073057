/** A process that builds the vector index of a table. It ends with the daemon. */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { openLance } from '../lance.ts'
import type { BuildTask } from './build-vector-index.ts'
import { updateVectorIndex } from './vector-index.ts'

const [temporary] = process.argv.slice(2) as [string]
// The daemon was killed: it cannot remove the temporary files.
process.once('disconnect', () => {
  rmSync(temporary, { recursive: true, force: true })
  process.exit(1)
})
// Not as arguments, because it may contain keys.
const [{ uri, name, lance, quantizedRows }] = (await once(process, 'message')) as [BuildTask]
// Searches of the daemon come first.
setPriority(constants.priority.PRIORITY_BELOW_NORMAL)
try {
  const connection = await openLance(uri, lance)
  await updateVectorIndex(connection, await connection.database.openTable(name), quantizedRows)
  process.exit(0)
} catch (error) {
  process.send?.((error as Error).message, () => process.exit(1))
}
