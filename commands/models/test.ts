import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveResource } from '../../src/cli/resources/resolve-references.ts'
import { createIdArguments } from '../../src/cli/resources/resource-command.ts'
import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { paint } from '../../src/cli/terminal/color.ts'
import { ReportedError } from '../../src/cli/terminal/failures/command-errors.ts'
import { type Failure, toFailure } from '../../src/cli/terminal/failures/describe-failure.ts'
import { formatFailure, formatFailureJson } from '../../src/cli/terminal/failures/format-failure.ts'
import { MAX_PROSE_COLUMNS } from '../../src/cli/terminal/format-prose.ts'
import { formatMilliseconds } from '../../src/cli/terminal/format-quantity.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { sanitizeLine, sanitizeText, wrap } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import { modelRoutes } from '../../src/contract/families/models.ts'

function formatModelReply(name: string, { latency_ms, text }: { latency_ms: number; text: string }): string {
  const { columns } = getOutput(process.stdout)
  const reply = sanitizeText(text).trim()
  const lines = columns === Number.POSITIVE_INFINITY ? [reply] : wrap(reply, Math.min(columns, MAX_PROSE_COLUMNS))
  return [`${paint('bold', sanitizeLine(name), process.stdout)} answered in ${formatMilliseconds(latency_ms)}:`, ...lines].join('\n')
}

export default class ModelsTest extends CadreCommand {
  static override description =
    'Send a short message to models and print their replies and latency.\n\n' +
    'These are real requests that count as usage and may cost money. Exits with 1 if a model does not reply.'
  static override examples = [
    { command: "cadre models test 'Local Llama'", description: 'Test a model' },
    { command: 'cadre models test Claude GPT --json', description: 'Test several models and print JSON' },
  ]
  static override args = { id: createIdArguments(modelTopic) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ModelsTest)
    const connection = await this.connect(flags)
    const isTable = this.getFormat(flags) === 'table'
    const tested: Record<string, unknown>[] = []
    let lastFailure: Failure | undefined
    for (const name of args.id) {
      const id = await resolveResource(connection, modelTopic, name)
      try {
        const { data } = await call(connection, modelRoutes.test, { params: { id } })
        tested.push({ id, ...data })
        if (isTable) process.stdout.write(`${formatModelReply(name, data)}\n`)
      } catch (error) {
        const failure = toFailure(error)
        // With several models, the others are still tested.
        if (args.id.length === 1) throw error
        lastFailure = failure
        tested.push({ id, ok: false, ...(JSON.parse(formatFailureJson(failure)) as object) })
        this.notify(`${sanitizeLine(name)}: ${formatFailure(failure)}`)
      }
    }
    if (!isTable) await this.print({ data: args.id.length === 1 ? (tested[0] ?? {}) : tested }, flags)
    if (lastFailure) throw new ReportedError(lastFailure.exitCode)
  }
}
