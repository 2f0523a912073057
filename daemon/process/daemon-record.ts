/** Writes daemon.json, with which commands find the daemon and recognize it. */
import { rmSync } from 'node:fs'
import { type Paths, readDaemonRecord } from '../../src/config.ts'
import type { StoredDaemonRecord } from '../../src/daemon-proof.ts'
import { version } from '../../src/version.ts'
import { writeFileAtomically } from './home.ts'
import type { DaemonOptions } from './parse-options.ts'

export function writeDaemonRecord(paths: Paths, url: string, secret: string, wanted: DaemonOptions): void {
  const { host, isRemote, foreground, databaseUrl, storageUrl } = wanted
  const servers = [
    ...(databaseUrl === undefined ? [] : ['--database-url', databaseUrl]),
    ...(storageUrl === undefined ? [] : ['--storage-url', storageUrl]),
  ]
  const options = ['--host', host, '--port', new URL(url).port || '80', ...(isRemote ? ['--allow-remote'] : []), ...servers]
  const started_at = new Date(performance.timeOrigin).toISOString()
  const record: StoredDaemonRecord = { pid: process.pid, url, version, started_at, options, foreground, secret }
  writeFileAtomically(paths.daemon, `${JSON.stringify(record)}\n`)
}

export function removeDaemonRecord(paths: Paths): void {
  if (readDaemonRecord(paths)?.pid === process.pid) rmSync(paths.daemon, { force: true })
}
