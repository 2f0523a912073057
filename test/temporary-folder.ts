/** Creates the folder of the homes and temporary files of a test run, in memory if possible. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'

/** A file system in memory. */
const MEMORY_FOLDER = '/dev/shm'
/** Five times what the tests need at a time. Containers often have less. */
const MIN_MEMORY_BYTES = 1024 ** 3

/** Waiting for a disk takes a tenth of the CPU time and half of the time of a test of the API. `TMPDIR` chooses another folder. */
export function createTemporaryFolder(): string {
  const isInMemory = process.env.TMPDIR === undefined && hasMemory() && canExecuteIn(MEMORY_FOLDER)
  return mkdtempSync(join(isInMemory ? MEMORY_FOLDER : tmpdir(), 'cadre-tests-'))
}

function hasMemory(): boolean {
  if (!existsSync(MEMORY_FOLDER)) return false
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
  return Math.min(bavail * bsize, freemem()) >= MIN_MEMORY_BYTES
}

/** Tests run scripts that they write. Containers often forbid one or the other in this folder. */
function canExecuteIn(folder: string): boolean {
  const script = join(folder, `cadre-script-${process.pid}`)
  try {
    writeFileSync(script, '#!/bin/sh\n', { mode: 0o700 })
    return spawnSync(script).status === 0
  } catch {
    return false // not writable
  } finally {
    rmSync(script, { force: true })
  }
}
