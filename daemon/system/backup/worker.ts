/** The worker thread that writes a backup, so that compressing it does not slow down requests. */
import { constants, getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { type BackupTask, type WrittenBackup, writeBackup } from './write-backup.ts'

export type BackupMessage =
  | { kind: 'progress'; bytes: number; total_bytes: number }
  | { kind: 'written'; backup: WrittenBackup }
  | { kind: 'failed'; message: string; code: string | undefined }

const REPORT_INTERVAL_MS = 200

// On Linux, the priority is that of the calling thread; elsewhere, it would be that of the daemon. A third of the daemon's share of a
// busy processor: with much less, a backup would hardly proceed while other programs are busy.
if (process.platform === 'linux') setPriority(Math.min(getPriority() + 5, constants.priority.PRIORITY_LOW))

const post = (message: BackupMessage) => parentPort?.postMessage(message)
let reportedAt = 0

writeBackup(workerData as BackupTask, (bytes, total_bytes) => {
  if (Date.now() - reportedAt < REPORT_INTERVAL_MS && bytes < total_bytes) return
  reportedAt = Date.now()
  post({ kind: 'progress', bytes, total_bytes })
}).then(
  (backup) => post({ kind: 'written', backup }),
  (error: NodeJS.ErrnoException) => post({ kind: 'failed', message: error.message, code: error.code }),
)
