/** Results as JUnit XML, which every CI shows. */
import type { Static } from 'typebox'
import type { RunResult } from '../../contract/families/evaluation-runs.ts'
import { againstLimit, type ScorerReport } from './format-scores.ts'

type Result = Static<typeof RunResult>

export function junit(name: string, results: readonly Result[]): string {
  const errors = results.filter(({ error }) => error !== null)
  const failed = results.filter(({ passed, error }) => !passed && error === null)
  const time = results.reduce((sum, { latency_ms }) => sum + (latency_ms ?? 0), 0)
  const suite = `name="${escaped(name)}" tests="${results.length}" failures="${failed.length}" errors="${errors.length}" time="${seconds(time)}"`
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${suite}>`,
    `  <testsuite ${suite}>`,
    ...results.map((result) => testCase(name, result)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function testCase(
  name: string,
  { position, repeat, input, latency_ms, passed, error, score, scores, expected_output, actual_output }: Result,
): string {
  const title = `${position + 1}${repeat > 1 ? ` (${repeat})` : ''}: ${input.replaceAll(/\s+/g, ' ').slice(0, 120)}`
  const open = `    <testcase classname="${escaped(name)}" name="${escaped(title)}" time="${seconds(latency_ms ?? 0)}"`
  if (passed) return `${open}/>`
  const reasons = Object.entries(scores as Record<string, ScorerReport>)
    .filter(([, { passed: fine }]) => fine === false)
    .map(([scorer, report]) => [scorer, report.reason || againstLimit(report)].filter(Boolean).join(': '))
  const text = [`expected: ${expected_output ?? ''}`, `actual: ${actual_output ?? ''}`, ...reasons].join('\n')
  const kind = error === null ? 'failure' : 'error'
  const message = error ?? `score ${score === null ? 'none' : score.toFixed(2)}: ${reasons.join('; ')}`
  return `${open}>\n      <${kind} message="${escaped(message)}">${escaped(text)}</${kind}>\n    </testcase>`
}

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3)

/** XML 1.0 has no place at all for most control characters. */
function escaped(text: string): string {
  const allowed = text.replaceAll(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
  return allowed.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
