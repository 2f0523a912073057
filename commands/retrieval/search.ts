/** Searches with a retrieval tool. */
import { boolean } from '@oclif/core/flags'
import { nothingFits, type Passage, passageLines } from '../../src/cli/ask/format-passages.ts'
import { questionArgument, questionFlags, questionFrom, resolveTool } from '../../src/cli/ask/query-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { retrievalTopic } from '../../src/cli/resources/topics/retrieval.ts'
import { ownArgument } from '../../src/cli/resources/verbs/show.ts'
import { paint } from '../../src/cli/terminal/color.ts'
import { quoted } from '../../src/cli/terminal/shell-quote.ts'
import { paperFor } from '../../src/cli/terminal/table.ts'
import { wrap } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import { retrievalToolRoutes } from '../../src/contract/families/retrieval-tools.ts'

export default class RetrievalSearch extends CadreCommand {
  static override description =
    'Search with a retrieval tool.\n\nPrints the passages that fit best with their document, page and score. --explain adds the place each had by meaning and by words, and the milliseconds of every stage.'
  static override examples = [
    { command: 'cadre retrieval search find "hotel price in Lisbon"', description: 'What fits best' },
    { command: 'cadre retrieval search find "hotel price in Lisbon" --explain --top-k 3', description: 'And why' },
    {
      command: "cadre retrieval search find 'night train' --filter type=pdf --json | jq -r '.results[].metadata.source'",
      description: 'For a script',
    },
  ]
  static override usage = 'retrieval search TOOL QUERY [flags]'
  static override args = { tool: ownArgument(retrievalTopic), query: questionArgument('What to look for') }
  static override flags = {
    ...questionFlags,
    explain: boolean({ char: 'x', description: 'Show ranks, scores and the time of every stage.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(RetrievalSearch)
    const body = await questionFrom(args.query ?? [], flags, `cadre retrieval search ${quoted(args.tool)}`)
    const connection = await this.connect(flags)
    const params = { id: await resolveTool(connection, retrievalTopic, args.tool) }
    const { data } = await call(connection, retrievalToolRoutes.search, {
      params,
      body: { ...body, ...(flags.explain ? { explain: true } : {}) },
    })
    if (this.formatOf(flags) !== 'table') return this.print({ data }, flags)
    if (data.findPassages.length === 0) this.narrate('Nothing was found.')
    else if (data.findPassages.every(({ loose }) => loose)) this.narrate(nothingFits(body.query))
    const paper = paperFor(process.stdout)
    const view = { query: body.query, paper, full: flags.full }
    const found = data.findPassages.map((passage, at) => passageLines(passage, at + 1, [scores(passage)], view).join('\n'))
    if (found.length > 0) process.stdout.write(`${found.join('\n\n')}\n`)
    if (data.timings) for (const line of wrap(stages(data.timings), Math.min(paper.columns, 100))) this.narrate(paint('dim', line))
  }
}

function scores({ score, explain, loose }: Passage): string {
  const fits = loose ? ' · only loosely related' : ''
  if (!explain) return `score ${score.toFixed(3)}${fits}`
  const rank = (place: number | null) => (place === null ? '–' : `#${place}`)
  return `meaning ${rank(explain.semantic_rank)} · words ${rank(explain.full_text_rank)} · fused ${explain.fused_score.toFixed(3)}${fits}`
}

function stages(timings: Record<string, number>): string {
  return Object.entries(timings)
    .map(([stage, milliseconds]) => `${stage.replaceAll('_', ' ')} ${milliseconds.toFixed(1)} ms`)
    .join(' · ')
}
