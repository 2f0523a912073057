/** `cadre rag query`. */
import { formatAnswer } from '../../src/cli/ask/format-answer.ts'
import { createQueryArgument, queryFlags, readQuery, resolveSearchTool } from '../../src/cli/ask/query-flags.ts'
import { reportUnreadSources } from '../../src/cli/ask/report-unread-sources.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { ragTopic } from '../../src/cli/resources/topics/rag.ts'
import { createIdArgument } from '../../src/cli/resources/verbs/show.ts'
import { canRedraw, paint } from '../../src/cli/terminal/color.ts'
import { formatMoney, formatTokens } from '../../src/cli/terminal/format-quantity.ts'
import { ProgressDisplay } from '../../src/cli/terminal/progress-bar.ts'
import { quoteShellWord } from '../../src/cli/terminal/shell-quote.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { call } from '../../src/client/call.ts'
import { ragToolRoutes } from '../../src/contract/families/rag-tools.ts'
import type { QueryResult } from '../../src/contract/schemas/passages.ts'

export default class RagQuery extends CadreCommand {
  static override description =
    'Ask a RAG tool a question.\n\n' +
    'Prints the answer and the passages it is based on, numbered as in the answer. Uses the model of the tool or the default model.'
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
  static override flags = queryFlags

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(RagQuery)
    const body = await readQuery(args.question ?? [], flags, `cadre rag query ${quoteShellWord(args.tool)}`)
    const connection = await this.connect(flags)
    const params = { id: await resolveSearchTool(connection, ragTopic, args.tool) }
    const display = new ProgressDisplay(!canRedraw(process.stderr))
    display.show({ label: 'Asking', done: 0, total: null, unit: '' })
    const { data } = await call(connection, ragToolRoutes.query, { params, body }).finally(() => display.end())
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    process.stdout.write(`${formatAnswer(data, getOutput(process.stdout), flags.full)}\n`)
    if (process.stderr.isTTY) this.notify(`\n${paint('dim', formatFooter(data))}`)
    if (data.results.length === 0) await reportUnreadSources(connection, [params.id])
  }
}

function formatFooter({ usage, cost }: QueryResult): string {
  return `${formatTokens(usage.total_tokens, usage.estimated)} · ${cost === null ? 'cost unknown' : `cost ${formatMoney(cost)}`}`
}
