/** Formats the results of scenarios as a table for a terminal or for docs/promises.md. */
import type { Outcome } from './scenario.ts'

export interface Result extends Outcome {
  name: string
  seconds: number
}

const HEADER = ['Scenario', 'Amount', 'Result', 'Figure', 'Time']

export function formatTable(results: readonly Result[], isMarkdown: boolean): string {
  const rows = results.map(({ name, amount, violations, skipped, figure, seconds }) => [
    isMarkdown ? `\`${name}\`` : name,
    amount,
    formatResult(violations.length, skipped !== undefined),
    skipped ?? figure,
    `${Math.round(seconds)} s`,
  ])
  if (isMarkdown) return [HEADER, HEADER.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
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

function formatResult(violations: number, isSkipped: boolean): string {
  if (violations > 0) return `broken (${violations})`
  return isSkipped ? 'skipped' : 'kept'
}
