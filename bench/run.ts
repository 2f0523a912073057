/** Runs all benchmarks or the named ones and prints each figure with its bar. Exits with 1 if a figure misses its bar. */
import { answers } from './answers.ts'
import { chat } from './chat.ts'
import { cliStart } from './cli-start.ts'
import { concurrentStreams } from './concurrent-streams.ts'
import { embedding } from './embedding.ts'
import { evaluations } from './evaluations.ts'
import { fuzz } from './fuzz.ts'
import { http } from './http.ts'
import { ingest } from './ingest.ts'
import { scans } from './large-documents/scans.ts'
import { spreadsheets } from './large-documents/spreadsheets.ts'
import { backup } from './large-homes/backup.ts'
import { mailbox } from './large-homes/mailbox.ts'
import { memories } from './large-homes/memories.ts'
import { messageSearch } from './large-homes/message-search.ts'
import { watching } from './large-homes/watching.ts'
import { list } from './list.ts'
import { models } from './models.ts'
import { retrieval } from './retrieval.ts'
import { million, scale } from './scale.ts'
import { search } from './search.ts'
import { servers } from './servers.ts'
import { singleStream } from './single-stream.ts'
import { start } from './start.ts'
import { type Figure, meetsBar } from './support/figures.ts'
import { largeTable } from './tables/large-table.ts'
import { otherQuestions } from './tables/other-questions.ts'
import { tables } from './tables/questions.ts'
import { growth } from './text/growth.ts'
import { usage } from './usage.ts'
import { webhooks } from './webhooks.ts'

const BENCHMARKS = [
  cliStart,
  chat,
  http,
  list,
  start,
  fuzz,
  growth,
  evaluations,
  embedding,
  retrieval,
  answers,
  tables,
  otherQuestions,
  largeTable,
  ingest,
  spreadsheets,
  scans,
  mailbox,
  watching,
  search,
  messageSearch,
  memories,
  backup,
  scale,
  million,
  models,
  usage,
  webhooks,
  singleStream,
  concurrentStreams,
  servers,
]

const names = process.argv.slice(2)
const unknown = names.filter((name) => !BENCHMARKS.some((bench) => bench.name === name))
if (unknown.length > 0) {
  console.error(`Unknown benchmark: ${unknown.join(', ')}. Available: ${BENCHMARKS.map(({ name }) => name).join(', ')}.`)
  process.exit(2)
}

const figures: Figure[] = []
for (const bench of BENCHMARKS) {
  if (names.length > 0 ? !names.includes(bench.name) : bench.isOptional) continue
  console.error(`${bench.name} …`)
  try {
    figures.push(...(await bench.run()))
  } catch (error) {
    // The figures of the others took long.
    console.error(error)
    figures.push({ name: bench.name, figure: 'failed' })
    process.exitCode = 1
  }
}
printTable(figures)
if (!figures.every(meetsBar)) process.exitCode = 1

function printTable(all: readonly Figure[]): void {
  const rows = [['name', 'figure', 'ratio', 'bar', ''], ...all.map(formatRow)]
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0))) ?? []
  for (const cells of rows)
    console.log(
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

function formatRow(figure: Figure): string[] {
  const { name, figure: measured, ratio, bar } = figure
  const limit = bar === undefined ? '' : 'most' in bar ? `≤ ${bar.most}` : `≥ ${bar.least}`
  return [name, measured, ratio?.toFixed(2) ?? '', limit, bar === undefined ? '' : meetsBar(figure) ? 'ok' : 'missed']
}
