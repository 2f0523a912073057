/** Formats the results of scenarios as a table for a terminal or for docs/promises.md. */
import type { Outcome, Scenario } from './scenario.ts'

export interface Result extends Outcome, Pick<Scenario, 'name' | 'promise'> {
  seconds: number
}

const HEADER = ['Scenario', 'Amount', 'Result', 'Figure', 'Time']

export function formatTable(results: readonly Result[]): string {
  const rows = results.map((result) => [
    result.name,
    result.amount,
    formatResult(result),
    formatFigure(result),
    `${Math.round(result.seconds)} s`,
  ])
  const all = [HEADER, ...rows]
  const widths = HEADER.map((_, column) => Math.max(...all.map((cells) => cells[column]?.length ?? 0)))
  return all
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Formats rows of the table in docs/promises.md. */
export function formatMarkdownRows(results: readonly Result[], date: string): string[] {
  return results.map((result) => {
    const cells = [`\`${result.name}\``, result.promise, result.amount, formatResult(result), formatFigure(result), date]
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  })
}

/** Replaces the rows of the same scenarios in docs/promises.md. */
export function updateRows(page: string, rows: readonly string[]): string {
  const getName = (row: string) => /^\| `([a-z-]+)` \|/.exec(row)?.[1]
  const updated = new Map(rows.map((row) => [getName(row), row]))
  return page
    .split('\n')
    .map((line) => updated.get(getName(line) ?? '') ?? line)
    .join('\n')
}

function formatResult({ violations, skipped }: Outcome): string {
  if (violations.length > 0) return `broken (${violations.length})`
  return skipped === undefined ? 'kept' : 'skipped'
}

const formatFigure = ({ figure, skipped }: Outcome): string => skipped ?? figure
