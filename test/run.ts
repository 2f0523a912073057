/**
 * Test runner: `npm test -- [--stalls [--seed N]] [--one-core] [regular expression…]`. Bundles the test files and runs them in
 * processes with their own home, a few at a time. Slow files have a process of their own. The other files of a folder share
 * one: loading the product takes longer than most of them. With `CADRE_TEST_DATABASE=sqld`, test servers store their records on
 * a libSQL server; with `CADRE_TEST_STORAGE=ceph`, they store documents and vectors in a bucket.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { openDatabase } from '../daemon/store/database.ts'
import { migrate } from '../daemon/store/migrate.ts'
import { bundleTests } from '../scripts/tests.ts'
import { startDeadline } from '../src/deadline.ts'
import { ObjectStore } from './harness/object-store/start-object-store.ts'
import { Sqld } from './harness/sqld/start-sqld.ts'
import { SLOWDOWN_OPTIONS, startSlowdown } from './slow-machine.ts'
import { createTemporaryFolder } from './temporary-folder.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Inside the package, so that packages that are not bundled resolve. */
const BUNDLE_FOLDER = join(ROOT, '.tests', String(process.pid))
const RUN_FILES = 'test/harness/run-files.ts'
/** Two more than there are cores, because many tests wait. With four more, the whole run is only one percent faster. */
const MAX_CONCURRENCY = Math.min(availableParallelism() + 2, 6)
/** Without output: a line of dots grows with each test. Much longer than any test takes on a slow machine. */
const SILENCE_TIMEOUT_MS = 20 * 60_000
/** Slow files, which do not share a process and start first, so that the run does not end waiting for one of them. */
const SEPARATE_FIRST = [
  'test/durability/',
  'test/docs/guides',
  'test/cli/quickstart/quickstart',
  'test/cli/resources/families',
  'test/daemon/process/process',
  'test/cli/daemon/',
  'test/fuzz/',
  'test/conversations/slow',
  'test/webhooks/slow',
  'test/embedding/',
  'test/tui/keys',
  'test/tui/chat',
  'test/cli/html/',
]
/** Folders of slower files, of which only a few share a process. Started last. */
const LAST = ['test/tui/', 'test/cli/']
const MAX_LAST_GROUP = 4

/** Of the product in tests, so that no timeout passes because the machine is slow. Tests of timeouts set their own. */
const TIMEOUT_FACTOR = '20'

interface FileResult {
  file: string
  passed: number
  failed: number
  skipped: number
  seconds: number
  problem: string | undefined
  output: string
}

const children = new Set<ChildProcess>()

/** Returns the files in groups that share a process, in the order in which they start. */
function findTestFiles(filters: readonly RegExp[]): string[][] {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file.replaceAll('\\', '/')}`)
    .filter((file) => /\.test\.tsx?$/.test(file))
    .filter((file) => filters.length === 0 || filters.some((filter) => filter.test(file)))
    .sort()
  const separate = new Set(SEPARATE_FIRST.flatMap((place) => files.filter((file) => file.startsWith(place))))
  const folders = new Map<string, string[]>()
  for (const file of files) if (!separate.has(file)) folders.set(dirname(file), [...(folders.get(dirname(file)) ?? []), file])
  const isLast = ([folder]: [string, string[]]) => LAST.some((place) => `${folder}/`.startsWith(place))
  const last = [...folders].filter(isLast).flatMap(([, group]) => divide(group, MAX_LAST_GROUP))
  const others = [...folders].filter((each) => !isLast(each)).map(([, group]) => group)
  return [...[...separate].map((file) => [file]), ...others, ...last.sort((a, b) => b.length - a.length)]
}

const divide = (files: readonly string[], size: number): string[][] =>
  Array.from({ length: Math.ceil(files.length / size) }, (_, at) => files.slice(at * size, (at + 1) * size))

/** Test servers copy it. Returns its path. */
async function createMigratedDatabase(): Promise<string> {
  const path = join(BUNDLE_FOLDER, 'migrated.db')
  const database = openDatabase(path)
  await migrate(database)
  await database.close()
  return path
}

const TEMPORARY_FOLDER = createTemporaryFolder()
const getBundle = (file: string) => join(BUNDLE_FOLDER, file.replace(/\.tsx?$/, '.js'))

/** Tests of processes use the build, which must match the sources. */
async function buildIfStale(): Promise<void> {
  const built = join(ROOT, 'dist/daemon/main.js')
  const since = existsSync(built) ? statSync(built).mtimeMs : 0
  const newest = ['src', 'commands', 'daemon', 'scripts', 'models', 'package.json'].reduce(
    (latest, place) => Math.max(latest, getNewestMtime(join(ROOT, place))),
    0,
  )
  if (since > newest) return
  console.log('building')
  const child = spawn(process.execPath, ['--import', 'tsx', 'scripts/bundle.ts'], { cwd: ROOT, stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error('the build failed')
}

function getNewestMtime(path: string): number {
  const found = statSync(path)
  if (!found.isDirectory()) return found.mtimeMs
  return readdirSync(path).reduce((latest, name) => Math.max(latest, getNewestMtime(join(path, name))), 0)
}

/**
 * Isolates a test from the user's settings and keeps its files in a temporary folder. Node parses extra certificates at
 * each start, which would take 0.1 s of CPU time per process.
 */
function createEnvironment(root: string, extra: Record<string, string>): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(CADRE_|XDG_|DBUS_|UVU_|NODE_(OPTIONS|TEST|EXTRA_CA_CERTS)|npm_|(CI|DISPLAY)$)/.test(name),
  )
  const home = join(root, 'home')
  const temporary = join(root, 'tmp')
  for (const directory of [home, temporary]) mkdirSync(directory)
  return {
    ...Object.fromEntries(kept),
    HOME: home,
    USERPROFILE: home,
    TMPDIR: temporary,
    TEMP: temporary,
    TMP: temporary,
    CADRE_HOME: join(root, 'cadre'),
    CADRE_KEYCHAIN: 'off',
    CADRE_MODEL_SERVERS: 'none',
    CADRE_TIMEOUT_FACTOR: TIMEOUT_FACTOR,
    FORCE_COLOR: '0',
    NO_COLOR: '1',
    ...extra,
  }
}

/** Runs files in one process. Returns those that it did not start because it ended before. */
async function runFiles(
  files: readonly string[],
  environment: Record<string, string>,
  report: (result: FileResult) => void,
): Promise<string[]> {
  const root = mkdtempSync(join(TEMPORARY_FOLDER, 'cadre-'))
  const child = spawn(process.execPath, [getBundle(RUN_FILES), ...files.map(getBundle)], {
    cwd: ROOT,
    env: createEnvironment(root, environment),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  })
  children.add(child)
  let running = -1
  let [stdout, stderr] = ['', '']
  let startedAt = performance.now()
  let late = false
  const deadline = startDeadline(SILENCE_TIMEOUT_MS, () => {
    late = true
    killGroup(child)
  })
  const finish = (printed: string, code: number | string) => {
    const output = printed + stderr
    const file = files[running] as string
    report({ file, seconds: (performance.now() - startedAt) / 1000, output, ...readTotals(output, code, late) })
    stderr = ''
    startedAt = performance.now()
  }
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    stderr += part
  })
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    stdout += part
    deadline.restart()
    for (let next = files[running + 1]; next !== undefined; next = files[running + 1]) {
      const [printed, rest] = splitAt(stdout, `\n${getBundle(next)}\n`)
      if (rest === undefined) return
      if (running >= 0) finish(printed, 0)
      stdout = rest
      running++
    }
  })
  const code = await new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (status, signal) => resolve(status ?? signal ?? 'unknown'))
  })
  deadline.cancel()
  // Child processes left behind hold the output open.
  killGroup(child)
  await new Promise<void>((resolve) => (child.stdout.closed ? resolve() : child.once('close', () => resolve())))
  children.delete(child)
  rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  running = Math.max(running, 0)
  finish(stdout, code)
  return files.slice(running + 1)
}

function splitAt(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}

/**
 * uvu exits with 0 when a file forgets to run its suite or a hook throws, so its totals must exist and add up.
 * Its total does not include skipped tests.
 */
function readTotals(output: string, code: number | string, late: boolean): Pick<FileResult, 'passed' | 'failed' | 'skipped' | 'problem'> {
  const count = (word: string) => Number([...output.matchAll(new RegExp(`^ {2}${word}: +(\\d+)`, 'gm'))].at(-1)?.[1] ?? Number.NaN)
  const [total, passed, skipped] = [count('Total'), count('Passed'), count('Skipped')]
  const problem = late
    ? `ended no test in ${SILENCE_TIMEOUT_MS / 60_000} minutes`
    : Number.isNaN(total + passed + skipped)
      ? `ended (${code}) without totals`
      : total + skipped === 0
        ? 'has no tests'
        : code !== 0
          ? `ended with ${code}`
          : total !== passed
            ? 'has failures'
            : undefined
  return { passed: passed || 0, skipped: skipped || 0, failed: Math.max(total - passed || 0, problem ? 1 : 0), problem }
}

/** Kills the process and its children, which share a process group. */
function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function printResult({ file, passed, failed, skipped, seconds, problem, output }: FileResult): void {
  const counts = [`${passed} passed`, failed > 0 && `${failed} failed`, skipped > 0 && `${skipped} skipped`].filter(Boolean).join(', ')
  console.log(`${problem ? 'FAIL' : 'ok  '} ${file}  ${counts}  ${seconds.toFixed(1)} s${problem ? `  (${problem})` : ''}`)
  if (problem) console.log(output)
}

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const child of children) killGroup(child)
      process.exit(130)
    })
  }
  const { values: slowdown, positionals } = parseArgs({ options: SLOWDOWN_OPTIONS, allowPositionals: true })
  const queue = findTestFiles(positionals.map((text) => new RegExp(text)))
  const files = queue.flat()
  await buildIfStale()
  process.once('exit', () => {
    for (const folder of [BUNDLE_FOLDER, TEMPORARY_FOLDER]) rmSync(folder, { recursive: true, force: true })
  })
  await bundleTests([RUN_FILES, ...files], BUNDLE_FOLDER)
  const sqld = process.env.CADRE_TEST_DATABASE === 'sqld' ? await Sqld.start({ hasNamespaces: true }) : undefined
  const storage = process.env.CADRE_TEST_STORAGE === 'ceph' ? await ObjectStore.start() : undefined
  const environment = {
    CADRE_TEST_MIGRATED_DATABASE: await createMigratedDatabase(),
    ...sqld?.environment,
    ...(storage ? { CADRE_TEST_STORAGE_ADDRESS: JSON.stringify(storage.address) } : {}),
  }
  process.once('exit', () => {
    sqld?.remove()
    storage?.remove()
  })
  const endSlowdown = startSlowdown(slowdown, TEMPORARY_FOLDER)
  const startedAt = performance.now()
  const results: FileResult[] = []
  const report = (result: FileResult) => {
    results.push(result)
    printResult(result)
  }
  const worker = async () => {
    for (let group = queue.shift(); group !== undefined; group = queue.shift()) {
      for (let left = group; left.length > 0; ) left = await runFiles(left, environment, report)
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENCY }, worker))
  endSlowdown()
  sqld?.remove()
  storage?.remove()
  const sum = (pick: (result: FileResult) => number) => results.reduce((total, result) => total + pick(result), 0)
  const passed = sum((result) => result.passed)
  const failed = sum((result) => result.failed)
  const skipped = sum((result) => result.skipped)
  const broken = results.filter(({ problem }) => problem).map(({ file }) => file)
  if (broken.length > 0) console.log(`\nfailed: ${broken.join(', ')}`)
  if (files.length === 0) console.log('no test file matches')
  console.log(`${files.length} files in ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
  process.exitCode = failed > 0 || files.length === 0 ? 1 : 0
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
}

await main()
