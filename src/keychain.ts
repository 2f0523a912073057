/** The operating system's keychain, asked through keytar in a process of its own. */
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { environmentOverrides, isSessionBusReachable } from './config.ts'
import { CadreError } from './contract/errors.ts'

/** The names under which Cadre keeps things there. */
export const ADMIN_TOKEN = 'admin-token'
export const VAULT_KEY = 'vault-key'

const SERVICE = 'cadre'
/** How long the keychain may take, and how long the process that asks it, which on a busy machine is slow to start. */
const KEYCHAIN_TIMEOUT_MS = 2000
const PROCESS_TIMEOUT_MS = 10_000

type Step = { get: string } | { delete: string } | { set: string; value: string }
type Outcome = { results: (string | boolean | null)[] } | { failure: string }

/** The keychain is absent, locked, turned off, or did not answer in time. */
export class KeychainError extends CadreError {
  constructor(message: string, hint = 'Unlock the keychain, and run this in the same session.') {
    super('UNAVAILABLE', message, { hint })
    this.name = 'KeychainError'
  }
}

/** Undefined when nothing is kept under the name; throws KeychainError when that cannot be known. */
export async function readKeychain(home: string, name: string): Promise<string | undefined> {
  const [value] = await runSteps([{ get: getAccount(home, name) }])
  return typeof value === 'string' ? value : undefined
}

export async function writeKeychain(home: string, name: string, value: string): Promise<void> {
  await runSteps([{ set: getAccount(home, name), value }])
}

/** Whether there was anything to delete. */
export async function deleteKeychain(home: string, name: string): Promise<boolean> {
  const [deleted] = await runSteps([{ delete: getAccount(home, name) }])
  return deleted === true
}

/** A keychain that answers may still be unable to keep anything, so something is kept, read and deleted. */
export async function isKeychainAvailable(home: string): Promise<boolean> {
  const probe = getAccount(home, `probe-${randomUUID()}`)
  try {
    const [, kept] = await runSteps([{ set: probe, value: 'probe' }, { get: probe }, { delete: probe }])
    return kept === 'probe'
  } catch (error) {
    if (error instanceof KeychainError) return false
    throw error
  }
}

/** One home may be reached by several paths; each has its entries under one. */
function getAccount(home: string, name: string): string {
  try {
    return `${name}@${realpathSync(home)}`
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return `${name}@${home}`
    throw error
  }
}

/**
 * What the other process runs. Secrets come and go through its pipes, never through its arguments. It ends itself, also
 * when its parent is gone, and by a signal: a call that hangs would hold up an ordinary exit.
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
 * A keychain that waits for an unlock prompt nobody sees blocks keytar's thread for as long as it likes, and Node joins
 * that thread on exit (measured: 50 s). Another process can be given up on.
 */
async function runSteps(steps: Step[]): Promise<(string | boolean | null)[]> {
  const keytar = findKeytar()
  const child = spawn(process.execPath, ['--input-type=commonjs', '-e', HELPER_SCRIPT], {
    stdio: ['pipe', 'pipe', 'ignore'],
    windowsHide: true,
  })
  const timer = setTimeout(() => child.kill('SIGKILL'), PROCESS_TIMEOUT_MS)
  try {
    const text = await new Promise<string>((resolve, reject) => {
      let received = ''
      child.stdout.setEncoding('utf8').on('data', (part: string) => {
        received += part
      })
      // Its early death shows as an empty answer; the broken pipe adds nothing.
      child.stdin.on('error', () => undefined)
      child.once('error', reject).once('close', () => resolve(received))
      child.stdin.end(JSON.stringify({ keytar, service: SERVICE, steps, limit: KEYCHAIN_TIMEOUT_MS }))
    })
    if (text === '') throw new KeychainError(`The keychain did not answer within ${KEYCHAIN_TIMEOUT_MS / 1000} s; it may be locked.`)
    const outcome = JSON.parse(text) as Outcome
    if ('failure' in outcome) throw new KeychainError(`The keychain cannot be used: ${outcome.failure}`)
    return outcome.results
  } finally {
    clearTimeout(timer)
  }
}

function findKeytar(): string {
  if (!environmentOverrides().keychain)
    throw new KeychainError('The keychain is turned off by CADRE_KEYCHAIN=off.', 'Leave CADRE_KEYCHAIN out to use it.')
  if (process.platform === 'linux' && !isSessionBusReachable())
    throw new KeychainError('There is no keychain here: no session bus.', 'Run this in a desktop session, which has one.')
  try {
    return createRequire(import.meta.url).resolve('keytar')
  } catch {
    // An optional dependency: npm leaves it out where it does not install.
    throw new KeychainError(
      'There is no keychain here: the keytar package is not installed.',
      'Install Cadre again, with its optional packages.',
    )
  }
}
