import { string } from '@oclif/core/args'
import { resolveModel } from '../../src/cli/ask/resolve-model.ts'
import { setDefaultModel } from '../../src/cli/daemon/config-settings.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { sanitizeLine } from '../../src/cli/terminal/text.ts'

export default class ModelsDefault extends CadreCommand {
  static override description =
    'Show or set the default model.\n\n' +
    'Agents and RAG tools without a model use the default model, which is initially the embedded one. Same as cadre config get and set ' +
    'default-model.'
  static override examples = [
    { command: 'cadre models default', description: 'Show the default model' },
    { command: "cadre models default 'Local Llama'", description: 'Set the default model' },
    { command: 'cadre models default Embedded', description: 'Use the embedded model again' },
  ]
  static override args = { name: string({ ignoreStdin: true, description: 'ID or name of the new default model.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsDefault)
    const connection = await this.connect(flags)
    if (args.name !== undefined) await setDefaultModel(connection, args.name)
    const data = await resolveModel(connection)
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    if (args.name !== undefined) this.notify('Set the default model for agents and RAG tools:')
    process.stdout.write(`${sanitizeLine(data.name)} (${data.id})\n`)
  }
}
