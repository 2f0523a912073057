/** Backups with damaged or forged files: the home stays empty, and a good backup can be restored into it. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import Database from 'libsql'
import { createArchive } from '../../../test/cli/backup/create-archive.ts'
import { type CommandResult, linkCommand, runCommand } from '../../../test/harness/cli.ts'
import { createRandom } from '../../../test/harness/create-random.ts'
import { openDaemon, withFolder } from '../../support/daemon.ts'
import { type Scenario, scaleAmount } from '../../support/scenario.ts'

/** Content with which no command or no daemon would work. Its checksums are right. */
const FORGED: readonly [name: string, content: string][] = [
  ...['{', '', 'null', '[]', '{"url":5}', '{"start":"no"}', '{"url":"ftp://x"}', '{"token":"two words"}', '\0'].map(
    (text): [string, string] => ['config.json', text],
  ),
  ...['', 'two words', '\u001b[2J'].map((text): [string, string] => ['token', text]),
  ...['null', '{"location":"moon"}', '{"location":"file"}', 'x'].map((text): [string, string] => ['vault.json', text]),
  ['vault.key', 'short'],
  ['cadre.db', ''],
  ['cadre.db', 'records'],
  ['cadre.db', 'SQLite format 3\0'],
]
const AGENT = 'Restored'

export const restores: Scenario = {
  name: 'restores',
  promise: 'A backup is restored completely or not at all.',
  run: (options) =>
    withFolder(async (folder) => {
      const violations: string[] = []
      const [cuts, changes] = [scaleAmount(20, options, 2), scaleAmount(20, options, 2)]
      const random = createRandom(options.seed)
      const home = join(folder, 'restored')
      const file = join(folder, 'attack.tar.gz')
      const command = linkCommand(join(folder, 'bin'))
      const environment = { PATH: process.env.PATH, HOME: folder, CADRE_HOME: home, CADRE_KEYCHAIN: 'off', CADRE_PORT: '0' }
      const restore = (path: string): Promise<CommandResult> => runCommand(command, ['restore', path], { environment })
      const good = await createBackup(folder, command, environment)
      const files = readFiles(good, join(folder, 'files'))
      const archive = readFileSync(good)

      const attempts: [name: string, archive: Buffer][] = FORGED.map(([name, content]) => [
        `a ${name} of ${JSON.stringify(content)}`,
        gzipSync(createArchive({ ...files, [name]: content })),
      ])
      const database = files['cadre.db'] as Buffer
      const forgeDatabase = (content: Buffer) => gzipSync(createArchive({ ...files, 'cadre.db': content }))
      attempts.push(['half a database', forgeDatabase(database.subarray(0, database.length / 2))])
      attempts.push(['a database without tables', forgeDatabase(createEmptyDatabase(join(folder, 'empty.db')))])
      for (let cut = 0; cut < cuts; cut++) {
        const length = Math.floor(random() * archive.length)
        attempts.push([`a backup cut off after ${length} bytes`, archive.subarray(0, length)])
      }
      for (let change = 0; change < changes; change++) {
        const position = Math.floor(random() * archive.length)
        const changed = Buffer.from(archive)
        changed[position] = (changed[position] as number) ^ (1 << Math.floor(random() * 8))
        attempts.push([`a backup with a changed bit at ${position}`, changed])
      }
      for (const [name, content] of attempts) {
        writeFileSync(file, content)
        const { code, stderr } = await restore(file)
        const left = existsSync(home) ? readdirSync(home) : []
        // A change in a part of the archive that contains nothing may be restored.
        const isHarmless =
          name.includes('changed bit') &&
          Object.entries(files).every(([path, bytes]) => left.includes(path) && readFileSync(join(home, path)).equals(bytes))
        if (code === 0 && !isHarmless) violations.push(`${name} was restored`)
        else if (code !== 0 && !stderr.includes('Nothing was changed'))
          violations.push(`${name} was rejected without an explanation: ${stderr}`)
        if (code !== 0 && left.length > 0) violations.push(`${name} left ${left.join(', ')} in the home`)
        rmSync(home, { recursive: true, force: true })
        mkdirSync(home)
      }
      const { code, stderr } = await restore(good)
      if (code !== 0) violations.push(`the good backup was rejected: ${stderr}`)
      const listed = await runCommand(command, ['agents', 'list'], { environment })
      await runCommand(command, ['daemon', 'stop'], { environment })
      if (!listed.stdout.includes(AGENT)) violations.push(`the restored home does not work: ${listed.stderr}`)
      return {
        amount: `${attempts.length} damaged or forged backups`,
        figure: `${violations.length} restored or left files behind`,
        violations,
      }
    }),
}

/** Returns the path of the backup of a home with an agent. */
async function createBackup(folder: string, command: string, environment: Record<string, string | undefined>): Promise<string> {
  const home = join(folder, 'home')
  const daemon = await openDaemon(home)
  await daemon.client.create('/agents', { name: AGENT })
  const path = join(folder, 'good.tar.gz')
  const { code, stderr } = await runCommand(command, ['backup', path], { environment: { ...environment, CADRE_HOME: home } })
  await daemon.stop()
  if (code !== 0) throw new Error(`The backup failed: ${stderr}`)
  return path
}

function createEmptyDatabase(path: string): Buffer {
  const database = new Database(path)
  database.exec('CREATE TABLE dropped (id); DROP TABLE dropped; VACUUM')
  database.close()
  return readFileSync(path)
}

/** The files of a backup, without its manifest. */
function readFiles(path: string, folder: string): Record<string, Buffer> {
  mkdirSync(folder)
  execFileSync('tar', ['-xzf', path, '-C', folder])
  const names = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile() && entry.name !== 'manifest.json')
  return Object.fromEntries(names.map(({ name }) => [name, readFileSync(join(folder, name))]))
}
