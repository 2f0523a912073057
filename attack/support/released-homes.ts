/** Homes written by released versions, as archives with a snapshot of everything that can be read from them. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Snapshot } from './fill-home.ts'

export const HOMES_FOLDER = fileURLToPath(new URL('../../test/attack/homes', import.meta.url))

export const listReleases = (): string[] =>
  readdirSync(HOMES_FOLDER)
    .filter((name) => name.endsWith('.tar.gz'))
    .map((name) => name.slice(0, -'.tar.gz'.length))

export interface ReleasedHome {
  home: string
  snapshot: Snapshot
  /** When the release wrote its home. */
  writtenAt: Date
}

/** Extracts the home of a release into a folder. */
export function extractHome(release: string, folder: string): ReleasedHome {
  mkdirSync(folder, { recursive: true })
  execFileSync('tar', ['-xzf', join(HOMES_FOLDER, `${release}.tar.gz`), '-C', folder])
  const path = join(folder, 'snapshot.json')
  return { home: join(folder, 'home'), snapshot: JSON.parse(readFileSync(path, 'utf8')) as Snapshot, writtenAt: statSync(path).mtime }
}
