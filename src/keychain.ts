/** Accesses the keychain of the operating system through keytar in a child process. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { environmentOverrides, isSessionBusReachable } from './config.ts'
import { CadreError } from './contract/errors.ts'
import { scaleTimeout, startDeadline } from './deadline.ts'
import { resolvePackageFolder } from './package-folder.ts'

export const ADMIN_TOKEN = 'admin-token'
export const VAULT_KEY = 'vault-key'
export const DATABASE_TOKEN = 'database-token'

const SERVICE = 'cadre'
/** The child process starts slowly on a busy machine, so it has more time than the keychain itself. */
const KEYCHAIN_TIMEOUT_MS = 2000
const PROCESS_TIMEOUT_MS = 10_000

type Step = { get: string } | { delete: string } | { set: string; value: string }
type Outcome = { results: (string | boolean | null)[] } | { failure: string }

/** The keychain is missing, locked, disabled, or did not respond in time. */
export class KeychainError extends CadreError {
  constructor(message: string, hint = 'Unlock the keychain and run the command in the same session.') {
    super('UNAVAILABLE', message, { hint })
    this.name = 'KeychainError'
  }
}

/** Returns undefined if there is no entry; throws a KeychainError if the keychain cannot be read. */
export async function readKeychain(home: string, name: string): Promise<string | undefined> {
  const [value] = await runSteps([{ get: getAccount(home, name) }])
  return typeof value === 'string' ? value : undefined
}

export async function writeKeychain(home: string, name: string, value: string): Promise<void> {
  await runSteps([{ set: getAccount(home, name), value }])
}

/** Returns whether the entry existed. */
export async function deleteKeychain(home: string, name: string): Promise<boolean> {
  const [deleted] = await runSteps([{ delete: getAccount(home, name) }])
  return deleted === true
}

/** Writes, reads and deletes an entry: a keychain may respond but be unable to store anything. */
export async function isKeychainAvailable(home: string): Promise<boolean> {
  const probe = getAccount(home, `probe-${randomUUID()}`)
  try {
    const [, stored] = await runSteps([{ set: probe, value: 'probe' }, { get: probe }, { delete: probe }])
    return stored === 'probe'
  } catch (error) {
    if (error instanceof KeychainError) return false
    throw error
  }
}

/** Uses the real path: a home may be reachable by several paths. */
function getAccount(home: string, name: string): string {
  try {
    return `${name}@${realpathSync(home)}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return `${name}@${home}`
    throw error
  }
}

/**
 * Script of the child process. Secrets pass through its pipes, never through arguments. It kills itself after the
 * timeout, even if the parent is gone; an ordinary exit would wait for a hanging call.
 */
const HELPER_SCRIPT = `
let text = ''
process.stdin.setEncoding('utf8').on('data', (part) => { text += part }).on('end', async () => {
  const { keytar: path, service, steps, limit } = JSON.parse(text)
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), limit)
  let outcome
  try {
    const keytar = require(path)
    const results = []
    for (const step of steps) {
      if (step.set) { await keytar.setPassword(service, step.set, step.value); results.push(null) }
      else if (step.get) results.push(await keytar.getPassword(service, step.get))
      else results.push(await keytar.deletePassword(service, step.delete))
    }
    outcome = { results }
  } catch (error) {
    outcome = { failure: error.message }
  }
  process.stdout.write(JSON.stringify(outcome), () => process.exit(0))
})`

/**
 * Uses a child process because a keychain that waits for an unlock prompt blocks the thread of keytar, and Node joins
 * that thread on exit (measured: 50 s).
 */
async function runSteps(steps: Step[]): Promise<(string | boolean | null)[]> {
  const keytar = resolveKeytar()
  const child = spawn(process.execPath, ['--input-type=commonjs', '-e', HELPER_SCRIPT], {
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  const deadline = startDeadline(scaleTimeout(PROCESS_TIMEOUT_MS), () => child.kill('SIGKILL'))
  try {
    const text = await new Promise<string>((resolve, reject) => {
      let received = ''
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        received += part
      })
      // An early exit results in empty output, handled below.
      child.stdin.on('error', () => undefined)
      child.once('error', reject).once('close', () => resolve(received))
      child.stdin.end(JSON.stringify({ keytar, service: SERVICE, steps, limit: scaleTimeout(KEYCHAIN_TIMEOUT_MS) }))
    })
    if (text === '') throw new KeychainError(`The keychain did not respond within ${KEYCHAIN_TIMEOUT_MS / 1000} s; it may be locked.`)
    const outcome = JSON.parse(text) as Outcome
    if ('failure' in outcome) throw new KeychainError(`The keychain cannot be used: ${outcome.failure}`)
    return outcome.results
  } finally {
    deadline.cancel()
  }
}

function resolveKeytar(): string {
  if (!environmentOverrides().keychain)
    throw new KeychainError('The keychain is disabled by CADRE_KEYCHAIN=off.', 'Unset CADRE_KEYCHAIN to use it.')
  if (process.platform === 'linux' && !isSessionBusReachable())
    throw new KeychainError('No keychain is available: there is no session bus.', 'Run the command in a desktop session.')
  return fileURLToPath(new URL('dist/keytar/lib/keytar.js', resolvePackageFolder()))
}
