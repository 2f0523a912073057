/** The secret in daemon.json, with which a daemon proves to the owner's commands that it wrote the file. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { DaemonRecord, Paths } from './config.ts'

/** Content of daemon.json. Only the owner of the home can read it. */
export interface StoredDaemonRecord extends DaemonRecord {
  /** Created at every start. Missing in records of version 0.1. */
  secret?: string
}

export const computeProof = (secret: string, challenge: string): string => createHmac('sha256', secret).update(challenge).digest('hex')

/** Returns undefined if daemon.json is missing or names another URL. */
export function readDaemonSecret(paths: Paths, url: string): string | undefined {
  try {
    const record = JSON.parse(readFileSync(paths.daemon, 'utf8')) as StoredDaemonRecord
    return record.url === url && typeof record.secret === 'string' ? record.secret : undefined
  } catch {
    return undefined // missing or incomplete
  }
}
