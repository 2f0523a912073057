import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { addModels, type DiscoveredModel, type ModelSelection, selectModels } from '../../src/cli/models/add-discovered-models.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { canPrompt, withDialog } from '../../src/cli/terminal/prompts.ts'
import { quoteShellWord } from '../../src/cli/terminal/shell-quote.ts'
import { call } from '../../src/client/call.ts'
import { modelRoutes } from '../../src/contract/families/models.ts'
import { systemRoutes } from '../../src/contract/families/system.ts'

export default class ModelsDiscover extends CadreCommand {
  static override description =
    'Discover models of local servers and of providers whose API key is set.\n\n' +
    "Checks the default ports of Ollama, LM Studio, llama.cpp, vLLM and others, and the daemon's environment for keys of OpenAI, " +
    'Anthropic and Google; nothing is sent to a provider. With --add, adds the named models, or all of them without a terminal, and ' +
    'stores API keys in the vault.'
  static override examples = [
    { command: 'cadre models discover', description: 'List the models that were found' },
    { command: 'cadre models discover --add', description: 'Choose models to add' },
    { command: 'cadre models discover --add llama3.2 --default', description: 'Add a model and make it the default' },
    {
      command: 'ANTHROPIC_API_KEY=… cadre daemon restart && cadre models discover --add ANTHROPIC_API_KEY',
      description: "Add a provider's model with the API key from the environment",
    },
    { command: 'cadre models discover --add ANTHROPIC_API_KEY=claude-opus-4-1', description: 'Add another model of a provider' },
  ]
  static override args = {
    name: string({ multiple: true, ignoreStdin: true, description: 'Name, model ID or origin of a model to add with --add.' }),
  }
  static override flags = {
    add: boolean({ description: 'Add the discovered models.' }),
    default: boolean({ description: 'Make the first added model the default model.', dependsOn: ['add'] }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsDiscover)
    const names = args.name ?? []
    if (names.length > 0 && !flags.add)
      throw new UsageError('Names require --add.', `For example: cadre models discover --add ${quoteShellWord(names[0] ?? '')}`)
    const connection = await this.connect(flags)
    const { data: found } = await call(connection, modelRoutes.discover, {})
    const isTable = this.getFormat(flags) === 'table'
    if (found.length === 0) this.notify(NOTHING_FOUND)
    if (!flags.add) {
      const data = isTable ? found.map((model) => ({ ...model, added: model.added !== null })) : found
      if (found.length > 0 || !isTable) await this.print({ data, columns: ['name', 'origin', 'added', 'model_id'] }, flags)
      if (isTable && found.some(({ added }) => added === null)) this.notify('To add them: cadre models discover --add')
      return
    }
    const added = await addModels(connection, await this.#wanted(names, found, isTable), found)
    const [first] = added
    if (first && flags.default) {
      await call(connection, systemRoutes.updateSettings, { body: { default_model_id: first.id } })
      this.notify(`Set the default model to ${first.name}.`)
    }
    if (!isTable || added.length > 0) await this.print({ data: added, columns: modelTopic.columns }, flags)
    if (isTable && first) this.notify(`Try it: cadre models test ${quoteShellWord(first.name)}`)
  }

  async #wanted(names: readonly string[], found: readonly DiscoveredModel[], isTable: boolean): Promise<ModelSelection[]> {
    if (names.length > 0) return selectModels(names, found)
    const fresh = found.filter(({ added }) => added === null)
    if (found.length > 0 && fresh.length === 0) this.notify('All discovered models have already been added.')
    if (fresh.length < 2 || !canPrompt() || !isTable) return fresh
    const options = fresh.map((model) => ({ value: model, label: model.name, note: model.origin }))
    return withDialog((dialog) => dialog.choose('Which models?', options, { multiple: true }))
  }
}

const NOTHING_FOUND =
  "No models found: no model server answers on a default port, and the daemon's environment has no API key. To add another server: " +
  'cadre models create --provider openai-compatible --help'
