/** Formats results as JUnit XML for CI. */
import type { RunResult } from '../../contract/families/evaluation-runs.ts'
import { formatLimit, type ScorerReport } from './format-scores.ts'

export function formatJunit(name: string, results: readonly RunResult[], currency?: string): string {
  const errors = results.filter(({ error }) => error !== null)
  const failed = results.filter(({ passed, error }) => !passed && error === null)
  const time = results.reduce((sum, { latency_ms }) => sum + (latency_ms ?? 0), 0)
  const counts = `tests="${results.length}" failures="${failed.length}" errors="${errors.length}"`
  const suite = `name="${escapeXml(name)}" ${counts} time="${formatSeconds(time)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${suite}>`,
    `  <testsuite ${suite}>`,
    ...results.map((result) => formatTestCase(name, result, currency)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function formatTestCase(
  name: string,
  { position, repeat, input, latency_ms, passed, error, score, scores, expected_output, actual_output }: RunResult,
  currency: string | undefined,
): string {
  const title = `${position + 1}${repeat > 1 ? ` (${repeat})` : ''}: ${input.replaceAll(/\s+/g, ' ').slice(0, 120)}`
  const open = `    <testcase classname="${escapeXml(name)}" name="${escapeXml(title)}" time="${formatSeconds(latency_ms ?? 0)}"`
  if (passed) return `${open}/>`
  const reasons = Object.entries(scores as Record<string, ScorerReport>)
    .filter(([, { passed: fine }]) => fine === false)
    .map(([scorer, report]) => [scorer, report.reason || formatLimit(report, currency)].filter(Boolean).join(': '))
  const text = [`expected: ${expected_output ?? ''}`, `actual: ${actual_output ?? ''}`, ...reasons].join('\n')
  const kind = error === null ? 'failure' : 'error'
  const message = error ?? `score ${score === null ? 'none' : score.toFixed(2)}: ${reasons.join('; ')}`
  return `${open}>\n      <${kind} message="${escapeXml(message)}">${escapeXml(text)}</${kind}>\n    </testcase>`
}

const formatSeconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3)

/** Replaces characters that XML 1.0 does not allow, even escaped. */
function escapeXml(text: string): string {
  const allowed = text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
  return allowed.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
