import { boolean } from '@oclif/core/flags'
import { formatNoMatch, formatPassage } from '../../src/cli/ask/format-passages.ts'
import { createQueryArgument, queryFlags } from '../../src/cli/ask/query-flags.ts'
import { prepareQuery } from '../../src/cli/ask/questions/prepare-query.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { createIdArgument } from '../../src/cli/resources/resource-command.ts'
import { retrievalTopic } from '../../src/cli/resources/topics/retrieval.ts'
import { paint } from '../../src/cli/terminal/color.ts'
import { getOutput } from '../../src/cli/terminal/table.ts'
import { wrap } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import { retrievalToolRoutes } from '../../src/contract/families/retrieval-tools.ts'
import type { Passage } from '../../src/contract/schemas/passages.ts'

export default class RetrievalSearch extends CadreCommand {
  static override description =
    'Search knowledge sources with a retrieval tool.\n\n' +
    'Prints the best passages with their document, page and score. Use --explain to add semantic and full-text ranks, the score of ' +
    'reranking and the time of each stage.'
  static override examples = [
    { command: 'cadre retrieval search find "hotel price in Lisbon"', description: 'Search' },
    {
      command: 'cadre retrieval search find "hotel price in Lisbon" --explain --top-k 3',
      description: 'Show how the passages were ranked',
    },
    {
      command: 'cadre retrieval search find "Who pays for a hotel?" --rerank',
      description: 'Put passages that answer the question first',
    },
    {
      command: "cadre retrieval search find 'night train' --filter type=pdf --json | jq -r '.results[].metadata.source'",
      description: 'Search PDF files and print the document names',
    },
  ]
  static override usage = 'retrieval search TOOL QUERY [flags]'
  static override args = { tool: createIdArgument(retrievalTopic), query: createQueryArgument('Search query') }
  static override flags = {
    ...queryFlags,
    explain: boolean({ char: 'x', description: 'Show ranks, scores and the time of each stage.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(RetrievalSearch)
    const { connection, id, body } = await prepareQuery({
      topic: retrievalTopic,
      command: 'cadre retrieval search',
      tool: args.tool,
      words: args.query ?? [],
      flags,
      connect: () => this.connect(flags),
    })
    const { data } = await call(connection, retrievalToolRoutes.search, {
      params: { id },
      body: { ...body, ...(flags.explain ? { explain: true } : {}) },
    })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    if (data.results.length === 0) this.notify('No passages found.')
    else if (data.results.every(({ loose }) => loose)) this.notify(formatNoMatch(body.query))
    const output = getOutput(process.stdout)
    const view = { query: body.query, output, full: flags.full }
    const passages = data.results.map((passage, index) => formatPassage(passage, index + 1, [formatScores(passage)], view).join('\n'))
    if (passages.length > 0) process.stdout.write(`${passages.join('\n\n')}\n`)
    if (data.timings) for (const line of wrap(formatTimings(data.timings), Math.min(output.columns, 100))) this.notify(paint('dim', line))
  }
}

function formatScores({ score, explain, loose }: Passage): string {
  const note = loose ? ' · only loosely related' : ''
  if (!explain) return `score ${score.toFixed(3)}${note}`
  const rank = (value: number | null) => (value === null ? '–' : `#${value}`)
  const ranks = `semantic ${rank(explain.semantic_rank)} · full text ${rank(explain.full_text_rank)}`
  const fused = `fused ${explain.fused_score.toFixed(3)}`
  if (explain.rerank_score === null) return `${ranks} · ${fused}${note}`
  return `${ranks} · ${fused} · rerank ${explain.rerank_score.toFixed(3)} · score ${score.toFixed(3)}${note}`
}

function formatTimings(timings: Record<string, number>): string {
  return Object.entries(timings)
    .map(([stage, milliseconds]) => `${stage.replaceAll('_', ' ')} ${milliseconds.toFixed(1)} ms`)
    .join(' · ')
}
