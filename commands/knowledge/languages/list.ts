import { formatLanguage } from '../../../src/cli/knowledge/format-language.ts'
import { CadreCommand } from '../../../src/cli/oclif/base-command.ts'
import { call } from '../../../src/client/call.ts'
import { recognitionLanguageRoutes } from '../../../src/contract/families/recognition/recognition-languages.ts'

export default class LanguagesList extends CadreCommand {
  static override description = 'List the languages in which the text of images and scans is recognised.'
  static override examples = [{ command: 'cadre knowledge languages list', description: 'List the languages' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(LanguagesList)
    const { data } = await call(await this.connect(flags), recognitionLanguageRoutes.list, {})
    if (this.getFormat(flags) !== 'table') return this.print({ data: data.languages }, flags)
    const rows = data.languages.map(({ language, size, built_in }) => ({ language, name: formatLanguage(language), size, built_in }))
    await this.print({ data: rows, columns: ['language', 'name', 'size', 'built_in'] }, flags)
  }
}
