import { boolean, string } from '@oclif/core/flags'
import { countUncited, formatCitedAnswer } from '../../src/cli/ask/format-cited-answer.ts'
import { createQueryArgument, queryFlags } from '../../src/cli/ask/query-flags.ts'
import { prepareQuery } from '../../src/cli/ask/questions/prepare-query.ts'
import { reportUnreadSources } from '../../src/cli/ask/report-unread-sources.ts'
import { formatComputations } from '../../src/cli/knowledge/format-computations.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveResource } from '../../src/cli/resources/resolve-references.ts'
import { createIdArgument } from '../../src/cli/resources/resource-command.ts'
import { modelTopic } from '../../src/cli/resources/topics/models.ts'
import { ragTopic } from '../../src/cli/resources/topics/rag.ts'
import { canRedraw, paint } from '../../src/cli/terminal/color.ts'
import { formatCount, formatTokens } from '../../src/cli/terminal/format-quantity.ts'
import { ProgressDisplay } from '../../src/cli/terminal/progress-bar.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { ragToolRoutes } from '../../src/contract/families/rag-tools.ts'
import { formatCost } from '../../src/contract/schemas/currency.ts'
import type { QueryResult } from '../../src/contract/schemas/passages.ts'

export default class RagQuery extends CadreCommand {
  static override description =
    'Ask a RAG tool a question.\n\n' +
    'Prints the answer and the passages it cites, numbered as in the answer; --all also prints the others that were found. Uses the ' +
    'model of the tool or the default model unless --model names another.'
  static override examples = [
    { command: 'cadre rag query handbook "How many days of leave do I have?"', description: 'Ask a question' },
    {
      command: 'cadre rag query handbook "Who approves travel?" --filter source=travel.md --top-k 3',
      description: 'Answer from one document only',
    },
    {
      command: "cadre rag query handbook - --json < question.txt | jq -r '.answer'",
      description: 'Read the question from stdin and print the answer',
    },
  ]
  static override usage = 'rag query TOOL QUESTION [flags]'
  static override args = { tool: createIdArgument(ragTopic), question: createQueryArgument('Question') }
  static override flags = {
    ...queryFlags,
    model: string({ char: 'm', description: "Model that writes the answer (default: the tool's model).", helpValue: '<text>' }),
    all: boolean({ char: 'a', description: 'Print all passages that were found, also those the answer does not cite.' }),
    explain: boolean({ char: 'x', description: 'Print how the answer was computed from tables: each query in words and as SQL.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(RagQuery)
    const { connection, id, body } = await prepareQuery({
      topic: ragTopic,
      command: 'cadre rag query',
      tool: args.tool,
      words: args.question ?? [],
      flags,
      connect: () => this.connect(flags),
    })
    const model = flags.model === undefined ? {} : { model_id: await resolveResource(connection, modelTopic, flags.model) }
    const display = new ProgressDisplay(!canRedraw(process.stderr))
    display.show({ label: 'Asking', done: 0, total: null, unit: '' })
    const { data } = await call(connection, ragToolRoutes.query, { params: { id }, body: { ...body, ...model } }).finally(() =>
      display.end(),
    )
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    process.stdout.write(`${formatCitedAnswer(data, { output: getOutput(process.stdout), full: flags.full, all: flags.all })}\n`)
    if (flags.explain) this.#explain(data)
    if (process.stderr.isTTY) this.notify(`\n${paint('dim', formatFooter(data, flags.all ? 0 : countUncited(data)))}`)
    if (data.results.length === 0) await reportUnreadSources(connection, [id])
  }

  #explain({ computation = [] }: QueryResult): void {
    if (computation.length === 0) this.notify('The answer was not computed from tables.')
    else process.stdout.write(`\n${formatComputations(computation).join('\n')}\n`)
  }
}

function formatFooter({ usage, cost, currency }: QueryResult, hidden: number): string {
  const parts = [formatTokens(usage.total_tokens, usage.estimated), formatCost(cost, currency)]
  return [...parts, ...(hidden === 0 ? [] : [`${formatCount(hidden, 'more passage')} with --all`])].join(' · ')
}
