/** Runs every test file, bundled as the product is, in a process and a home of its own, a few at a time, and tells: `npm test [regular expression…]`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleTests } from '../.build/tests.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** Inside the package, so that what is not bundled is found from there. */
const BUNDLED = join(ROOT, '.tests', String(process.pid))
/** One more than there are cores: many wait for a timer or a disk. */
const AT_ONCE = Math.min(availableParallelism() + 1, 6)
const LIMIT_MS = 4 * 60_000
/** Files that take long start first, so that the end does not wait for one of them alone. */
const LONG = [
  'test/durability/',
  'test/webhooks/slow',
  'test/conversations/slow',
  'test/docs/',
  'test/fuzz/',
  'test/cli/',
  'test/daemon/',
  'test/tui/',
]

interface Outcome {
  file: string
  passed: number
  failed: number
  seconds: number
  problem: string | undefined
  output: string
}

const children = new Set<ChildProcess>()

function testFiles(filters: readonly RegExp[]): string[] {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file.replaceAll('\\', '/')}`)
    .filter((file) => /\.test\.tsx?$/.test(file))
    .filter((file) => filters.length === 0 || filters.some((filter) => filter.test(file)))
  const rank = (file: string) => {
    const at = LONG.findIndex((place) => file.startsWith(place))
    return at < 0 ? LONG.length : at
  }
  return files.sort((a, b) => rank(a) - rank(b) || a.localeCompare(b))
}

/** Some tests start what was built; it must be what the sources say. */
async function buildIfStale(): Promise<void> {
  const built = join(ROOT, 'dist/daemon/main.js')
  const since = existsSync(built) ? statSync(built).mtimeMs : 0
  const newest = ['src', 'commands', 'daemon', '.build', 'package.json'].reduce(
    (latest, place) => Math.max(latest, changed(join(ROOT, place))),
    0,
  )
  if (since > newest) return
  console.log('building')
  const child = spawn(process.execPath, ['--import', 'tsx', '.build/bundle.ts'], { cwd: ROOT, stdio: 'inherit' })
  const code = await new Promise((resolve) => child.once('close', resolve))
  if (code !== 0) throw new Error('the build failed')
}

function changed(path: string): number {
  const found = statSync(path)
  if (!found.isDirectory()) return found.mtimeMs
  return readdirSync(path).reduce((latest, name) => Math.max(latest, changed(join(path, name))), 0)
}

/** Nothing of the user's own setup reaches a test, and nothing of a test stays. */
function environment(root: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(CADRE_|XDG_|DBUS_|UVU_|NODE_OPTIONS|NODE_TEST|npm_|(CI|DISPLAY)$)/.test(name),
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
    FORCE_COLOR: '0',
    NO_COLOR: '1',
  }
}

async function run(file: string): Promise<Outcome> {
  const root = mkdtempSync(join(tmpdir(), 'cadre-'))
  const begun = performance.now()
  const child = spawn(process.execPath, [join(BUNDLED, file.replace(/\.tsx?$/, '.js'))], {
    cwd: ROOT,
    env: environment(root),
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: process.platform !== 'win32',
  })
  children.add(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      output += part
    })
  }
  let late = false
  const timer = setTimeout(() => {
    late = true
    end(child)
  }, LIMIT_MS)
  const code = await new Promise<number | string>((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (status, signal) => resolve(status ?? signal ?? 'unknown'))
  })
  clearTimeout(timer)
  // What the file started and left behind holds its output open.
  end(child)
  await new Promise<void>((resolve) => (child.stdout.closed ? resolve() : child.once('close', () => resolve())))
  children.delete(child)
  rmSync(root, { recursive: true, force: true, maxRetries: 3 })
  return { file, seconds: (performance.now() - begun) / 1000, output, ...judged(output, code, late) }
}

/** uvu exits 0 when a file forgets to run its suite or a hook throws, so its totals must be there and add up. */
function judged(output: string, code: number | string, late: boolean): Pick<Outcome, 'passed' | 'failed' | 'problem'> {
  const count = (word: string) => Number([...output.matchAll(new RegExp(`^ {2}${word}: +(\\d+)`, 'gm'))].at(-1)?.[1] ?? Number.NaN)
  const [total, passed, skipped] = [count('Total'), count('Passed'), count('Skipped')]
  const problem = late
    ? `took longer than ${LIMIT_MS / 60_000} minutes`
    : Number.isNaN(total + passed + skipped)
      ? `ended (${code}) without totals`
      : total === 0
        ? 'has no tests'
        : code !== 0
          ? `ended with ${code}`
          : total !== passed + skipped
            ? 'has failures'
            : undefined
  return { passed: passed || 0, failed: Math.max(total - passed - skipped || 0, problem ? 1 : 0), problem }
}

/** The process and whatever it started: they share a group that is ours. */
function end(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(process.platform === 'win32' ? child.pid : -child.pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function tell({ file, passed, failed, seconds, problem, output }: Outcome): void {
  console.log(
    `${problem ? 'FAIL' : 'ok  '} ${file}  ${passed} passed${failed ? `, ${failed} failed` : ''}  ${seconds.toFixed(1)} s${problem ? `  (${problem})` : ''}`,
  )
  if (problem) console.log(output)
}

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      for (const child of children) end(child)
      process.exit(130)
    })
  }
  const files = testFiles(process.argv.slice(2).map((text) => new RegExp(text)))
  await buildIfStale()
  process.once('exit', () => rmSync(BUNDLED, { recursive: true, force: true }))
  await bundleTests(files, BUNDLED)
  const begun = performance.now()
  const queue = [...files]
  const outcomes: Outcome[] = []
  const worker = async () => {
    for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
      const outcome = await run(file)
      outcomes.push(outcome)
      tell(outcome)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  const sum = (pick: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + pick(outcome), 0)
  const [passed, failed] = [sum((outcome) => outcome.passed), sum((outcome) => outcome.failed)]
  const broken = outcomes.filter(({ problem }) => problem).map(({ file }) => file)
  if (broken.length > 0) console.log(`\nfailed: ${broken.join(', ')}`)
  if (files.length === 0) console.log('no test file matches')
  console.log(`${files.length} files in ${((performance.now() - begun) / 1000).toFixed(0)} s`)
  process.exitCode = failed > 0 || files.length === 0 ? 1 : 0
  console.log(`${passed} passed, ${failed} failed`)
}

await main()
