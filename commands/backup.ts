import { resolve } from 'node:path'
import { string } from '@oclif/core/args'
import { boolean, integer } from '@oclif/core/flags'
import type { Static } from 'typebox'
import { createArchiveError } from '../src/cli/backup/archive-errors.ts'
import { showBytes } from '../src/cli/backup/show-bytes.ts'
import { verifyBackup } from '../src/cli/backup/verify-backup.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { UsageError } from '../src/cli/terminal/failures/command-errors.ts'
import { formatBytes, formatCount } from '../src/cli/terminal/format-quantity.ts'
import { ProgressDisplay } from '../src/cli/terminal/progress-bar.ts'
import { quoteShellWord } from '../src/cli/terminal/shell-quote.ts'
import { isLoopback } from '../src/client/address.ts'
import { call, stream } from '../src/client/call.ts'
import type { Connection } from '../src/client/request.ts'
import { CadreError, type ErrorCode, handleError } from '../src/contract/errors.ts'
import { type BACKUP_EVENTS, backupRoutes } from '../src/contract/families/backups.ts'
import { systemRoutes } from '../src/contract/families/system.ts'

type Backup = Static<typeof BACKUP_EVENTS.backup_end>

export default class BackupCommand extends CadreCommand {
  static override description =
    'Back up the home while the daemon runs.\n\n' +
    'The file contains records, documents and sealed secrets, and everything that was acknowledged before the backup started. Indexes ' +
    'are rebuilt after a restore unless --index includes them.'
  static override examples = [
    { command: 'cadre backup /mnt/backups/cadre.tar.gz --verify', description: 'Write a backup and read it again' },
    { command: 'cadre backup --daily 7', description: 'Back up every day into the home, and keep seven backups' },
    { command: 'cadre backup --daily 0', description: 'Stop the daily backups' },
  ]
  static override args = { file: string({ ignoreStdin: true, description: 'File to write, such as cadre.tar.gz.' }) }
  static override flags = {
    index: boolean({ description: 'Include the indexes, so that a restored home need not rebuild them.' }),
    verify: boolean({ description: 'Read the backup again and check all checksums.' }),
    force: boolean({ description: 'Overwrite an existing file.' }),
    daily: integer({
      min: 0,
      max: 365,
      description: 'Back up every day and keep this number of backups; 0 stops it.',
      helpValue: '<number>',
    }),
    quiet: boolean({ char: 'q', description: 'Show no progress.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(BackupCommand)
    if (args.file === undefined && flags.daily === undefined)
      throw new UsageError('Name the file to write.', 'For example: cadre backup cadre.tar.gz')
    if (args.file !== undefined && !/\.(?:tar\.gz|tgz)$/.test(args.file))
      throw new UsageError('The name of a backup ends in .tar.gz or .tgz.', `For example: cadre backup ${args.file}.tar.gz`)
    const connection = await this.connect(flags)
    if (flags.daily !== undefined) await this.#setDaily(connection, flags.daily)
    if (args.file === undefined) return
    if (!connection.isSameMachine)
      throw isLoopback(connection.url)
        ? new UsageError(
            `cadre backup writes a file on the machine of the daemon, and a profile (${connection.url}) can lead to another one.`,
            'Run cadre backup on that machine, with --profile local if a profile is selected.',
          )
        : new UsageError(`The daemon runs on another machine (${connection.url}).`, 'Run cadre backup on that machine.')
    const display = new ProgressDisplay(flags.quiet || this.getFormat(flags) !== 'table')
    try {
      const body = { path: resolve(args.file), include_index: flags.index, overwrite: flags.force }
      const backup = await writeBackup(connection, body, display).catch(namePath(body.path))
      if (flags.verify) {
        const again = `cadre backup ${quoteShellWord(args.file)} --force --verify${flags.index ? ' --index' : ''}`
        await verifyBackup(backup.path, { report: showBytes(display, 'Verifying') }).catch(
          createArchiveError(backup.path, `It was written, but changed on the disk. Check the disk, then write it again: ${again}`),
        )
      }
      display.clear()
      if (this.getFormat(flags) !== 'table') return this.print({ data: { ...backup, verified: flags.verify } }, flags)
      const content = `${formatCount(backup.files, 'file')}, ${formatBytes(backup.size)}`
      this.notify(`${flags.verify ? 'Wrote and verified' : 'Wrote'} ${args.file}: ${content}.`)
      this.notify(`SHA-256: ${backup.sha256}`)
    } finally {
      display.end()
    }
  }

  async #setDaily(connection: Connection, daily_backups: number): Promise<void> {
    await call(connection, systemRoutes.updateSettings, { body: { daily_backups } })
    this.notify(
      daily_backups === 0
        ? 'Daily backups are off. Existing ones are kept.'
        : `A backup is written every day to the folder backups of the home, and the newest ${daily_backups} are kept.`,
    )
  }
}

/** The service calls the path `path`. */
const namePath = (path: string) =>
  handleError('VALIDATION_ERROR', (error) => {
    const message = error.message.replace(/^path: /, `${path} `)
    throw new CadreError(error.code, message, { hint: error.hint, details: error.details, cause: error })
  })

async function writeBackup(
  connection: Connection,
  body: { path: string; include_index: boolean; overwrite: boolean },
  display: ProgressDisplay,
): Promise<Backup> {
  const show = showBytes(display, 'Backing up')
  show(0, null)
  for await (const { event, data } of stream(connection, backupRoutes.create, { body })) {
    const value = JSON.parse(data) as unknown
    if (event === 'progress') {
      const { bytes, total_bytes } = value as Static<typeof BACKUP_EVENTS.progress>
      show(bytes, total_bytes)
    }
    if (event === 'backup_end') return value as Backup
    if (event === 'error') {
      const { code, error, hint } = value as { code: ErrorCode; error: string; hint?: string }
      throw new CadreError(code, error, { hint })
    }
  }
  throw new CadreError('UNAVAILABLE', 'The daemon ended the backup early.', { hint: 'For details: cadre daemon logs' })
}
