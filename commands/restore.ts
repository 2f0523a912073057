import { resolve } from 'node:path'
import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { createArchiveError } from '../src/cli/backup/archive-errors.ts'
import { requireEmptyHome, restoreHome, restoreKeys } from '../src/cli/backup/restore-home.ts'
import { showBytes } from '../src/cli/backup/show-bytes.ts'
import { verifyBackup } from '../src/cli/backup/verify-backup.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { formatCount } from '../src/cli/terminal/format-quantity.ts'
import { ProgressDisplay } from '../src/cli/terminal/progress-bar.ts'

export default class RestoreCommand extends CadreCommand {
  static override description =
    'Restore a backup into an empty home.\n\n' +
    'All checksums are verified before the home is changed. Use --verify to only check the file.'
  static override examples = [
    { command: 'CADRE_HOME=~/restored cadre restore cadre.tar.gz', description: 'Restore into a new home' },
    { command: 'cadre restore cadre.tar.gz --verify', description: 'Check a backup without restoring it' },
  ]
  static override args = { file: string({ required: true, ignoreStdin: true, description: 'Backup to restore.' }) }
  static override flags = {
    verify: boolean({ description: 'Check the backup, but do not restore it.' }),
    quiet: boolean({ char: 'q', description: 'Show no progress.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(RestoreCommand)
    this.requireLocal(flags)
    const file = resolve(args.file)
    if (!flags.verify) requireEmptyHome(this.paths)
    const display = new ProgressDisplay(flags.quiet || this.getFormat(flags) !== 'table')
    try {
      const reading = flags.verify
        ? verifyBackup(file, { report: showBytes(display, 'Verifying') })
        : restoreHome(file, this.paths, showBytes(display, 'Restoring'))
      const hint = flags.verify
        ? 'Use another backup, or write a new one: cadre backup NEW.tar.gz --verify'
        : 'Nothing was changed. Use another backup.'
      const { files, ...manifest } = await reading.catch(createArchiveError(file, hint))
      display.clear()
      const advice = flags.verify ? undefined : await restoreKeys({ files, ...manifest }, this.paths)
      if (this.getFormat(flags) !== 'table')
        return this.print({ data: { ...manifest, files: files.length, restored: !flags.verify } }, flags)
      const content = `${formatCount(files.length, 'file')} from ${manifest.created_at}`
      this.notify(flags.verify ? `${args.file} is intact: ${content}.` : `Restored ${content} to ${this.paths.home}.`)
      if (!flags.verify) this.notify('Next: cadre doctor. Indexes that the backup does not contain are rebuilt in the background.')
      if (advice !== undefined) this.notify(advice)
    } finally {
      display.end()
    }
  }
}
