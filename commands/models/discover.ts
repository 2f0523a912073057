/** Looks for models that could be used, and adds them. */
import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { type Adoption, adopt, adoptionsFor, type Discovered } from '../../src/cli/models/adopt-discovered.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { UsageError } from '../../src/cli/terminal/errors.ts'
import { canAsk, inDialog } from '../../src/cli/terminal/prompts.ts'
import { quoted } from '../../src/cli/terminal/shell-quote.ts'
import { call } from '../../src/client/call.ts'
import { modelRoutes } from '../../src/contract/families/models.ts'
import { systemRoutes } from '../../src/contract/families/system.ts'

export default class ModelsDiscover extends CadreCommand {
  static override description =
    "Look for models that could be used, and add them.\n\nLooks for servers at their usual ports of the daemon's machine (Ollama, LM Studio, llama.cpp, vLLM and others), and for keys of OpenAI, Anthropic and Google in the daemon's environment; nothing leaves the machine.\n\n--add adds those that are named, by name, by the provider's name for the model, or by where they were found; without a name it asks at a terminal which ones, and adds all of them elsewhere. Of a provider whose key was found any model can be added: --add ANTHROPIC_API_KEY=claude-opus-4-1. A key goes from the daemon's environment into its vault."
  static override examples = [
    { command: 'cadre models discover', description: 'What there is' },
    { command: 'cadre models discover --add', description: 'Choose from it' },
    { command: 'cadre models discover --add llama3.2 --default', description: 'Add one, and let it answer from now on' },
    {
      command: 'ANTHROPIC_API_KEY=… cadre daemon restart && cadre models discover --add ANTHROPIC_API_KEY',
      description: 'A model of a provider',
    },
  ]
  static override args = { name: string({ multiple: true, ignoreStdin: true, description: 'What to add, with --add.' }) }
  static override flags = {
    add: boolean({ description: 'Add models.' }),
    default: boolean({ description: 'Make the first one that is added the default model.', dependsOn: ['add'] }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsDiscover)
    const names = args.name ?? []
    if (names.length > 0 && !flags.add)
      throw new UsageError('Names are for --add.', `For example: cadre models discover --add ${quoted(names[0] ?? '')}`)
    const connection = await this.connect(flags)
    const { data: found } = await call(connection, modelRoutes.discover, {})
    const isTable = this.formatOf(flags) === 'table'
    if (found.length === 0) this.narrate(NOTHING)
    if (!flags.add) {
      const data = isTable ? found.map((model) => ({ ...model, added: model.added !== null })) : found
      if (found.length > 0 || !isTable) await this.print({ data, columns: ['name', 'origin', 'added', 'model_id'] }, flags)
      if (isTable && found.some(({ added }) => added === null)) this.narrate('cadre models discover --add adds them.')
      return
    }
    const added = await adopt(connection, await this.#wanted(names, found, isTable), found)
    const [first] = added
    if (first && flags.default) {
      await call(connection, systemRoutes.updateSettings, { body: { default_model_id: first.id } })
      this.narrate(`${first.name} is the default model now.`)
    }
    if (!isTable || added.length > 0) await this.print({ data: added, columns: modelTopic.columns }, flags)
    if (isTable && first) this.narrate(`Try it: cadre models test ${quoted(first.name)}`)
  }

  async #wanted(names: readonly string[], found: readonly Discovered[], isTable: boolean): Promise<Adoption[]> {
    if (names.length > 0) return adoptionsFor(names, found)
    const fresh = found.filter(({ added }) => added === null)
    if (found.length > 0 && fresh.length === 0) this.narrate('All that was found is here already.')
    if (fresh.length < 2 || !canAsk() || !isTable) return fresh
    const options = fresh.map((model) => ({ value: model, label: model.name, note: model.origin }))
    return inDialog((dialog) => dialog.choose('Which ones?', options, { several: true }))
  }
}

const NOTHING =
  "No model server answers at its usual port, and the daemon's environment holds no key of a provider. A server elsewhere: cadre models create --provider openai-compatible --help"
