import { string } from '@oclif/core/args'
import { requireLanguageCode } from '../../../src/cli/knowledge/format-language.ts'
import { CadreCommand } from '../../../src/cli/oclif/base-command.ts'
import { call } from '../../../src/client/call.ts'
import { recognitionLanguageRoutes } from '../../../src/contract/families/recognition/recognition-languages.ts'

export default class LanguagesRemove extends CadreCommand {
  static override description = 'Remove a language of text recognition. Recognised text stays as it is.'
  static override examples = [{ command: 'cadre knowledge languages remove deu', description: 'Remove German' }]
  static override args = {
    language: string({ required: true, ignoreStdin: true, description: 'Code of the language, such as deu.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(LanguagesRemove)
    const params = { language: requireLanguageCode(args.language) }
    const { message } = await call(await this.connect(flags), recognitionLanguageRoutes.remove, { params })
    this.notify(message)
  }
}
