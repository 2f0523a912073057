/** Stops and removes the user service of the daemon. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { UsageError } from '../terminal/errors.ts'
import { createService, type Service } from './service-unit.ts'

const TIMEOUT_MS = 20_000

/** Returns the deleted service file, or undefined if there is none. */
export function removeService(run: string, home: string): string | undefined {
  const service = findService(run, home)
  if (!service || !existsSync(service.file)) return undefined
  const runDisable = () => spawnSync('/bin/sh', ['-c', service.disable], { stdio: 'ignore', timeout: TIMEOUT_MS })
  // launchd needs the file to stop the service, systemd forgets it only afterwards. Neither need be running.
  runDisable()
  for (const path of [service.file, ...service.links]) rmSync(path, { force: true })
  runDisable()
  return service.file
}

/** Undefined on platforms without services. */
function findService(run: string, home: string): Service | undefined {
  try {
    return createService({ run, home })
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}
