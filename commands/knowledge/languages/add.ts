import { readFile } from 'node:fs/promises'
import { string } from '@oclif/core/args'
import { string as stringFlag } from '@oclif/core/flags'
import { createReadError } from '../../../src/cli/input/file-errors.ts'
import { downloadLanguage } from '../../../src/cli/knowledge/download-language.ts'
import { formatLanguage, requireLanguageCode } from '../../../src/cli/knowledge/format-language.ts'
import { CadreCommand } from '../../../src/cli/oclif/base-command.ts'
import { call } from '../../../src/client/call.ts'
import { recognitionLanguageRoutes } from '../../../src/contract/families/recognition/recognition-languages.ts'

export default class LanguagesAdd extends CadreCommand {
  static override description =
    'Add a language in which the text of images and scans is recognised, together with English.\n\n' +
    'Downloads its data with npm. Text that was recognised before stays as it is, until you sync its source with --recognize-again.'
  static override examples = [
    { command: 'cadre knowledge languages add deu', description: 'Add German' },
    { command: 'cadre knowledge languages add deu --from deu.traineddata', description: 'Add it from a file, without a network' },
  ]
  static override args = {
    language: string({ required: true, ignoreStdin: true, description: 'Code of the language in Tesseract: deu, fra, spa, chi_sim, …' }),
  }
  static override flags = {
    from: stringFlag({ helpValue: 'FILE', description: 'Data of the language: a .traineddata or .traineddata.gz file.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(LanguagesAdd)
    const language = requireLanguageCode(args.language)
    const data = flags.from === undefined ? await this.#download(language) : await readData(flags.from)
    const connection = await this.connect(flags)
    const body = { content_base64: data.toString('base64') }
    const { data: added } = await call(connection, recognitionLanguageRoutes.add, { params: { language }, body })
    if (this.getFormat(flags) !== 'table') return this.print({ data: added }, flags)
    this.notify(
      `Text is now recognised in ${formatLanguage(language)} too. ` +
        'To recognise documents again: cadre knowledge sync SOURCE --recognize-again',
    )
  }

  #download(language: string): Promise<Buffer> {
    this.notify(`Downloading ${formatLanguage(language)}…`)
    return downloadLanguage(language)
  }
}

const readData = (file: string) =>
  readFile(file).catch((error: unknown) => {
    throw createReadError(file, error)
  })
