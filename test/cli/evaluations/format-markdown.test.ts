import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatRunMarkdown } from '../../../src/cli/evaluations/format-markdown.ts'
import { createResult, createRunReport } from '../html/sample-reports.ts'

const test = suite('evaluation reports as Markdown')

/** Removes what GitHub shows as code, where nothing has a meaning. */
const removeCode = (markdown: string) =>
  markdown.replaceAll(/^(`{3,})\w*\n[\s\S]*?^\1$/gm, '').replaceAll(/(`+)(?!`)[^\n]*?[^`]\1(?!`)/g, '')

test('a report has figures, the trend, scores, differences and failures', () => {
  const markdown = formatRunMarkdown(createRunReport([createResult(0, false), createResult(1, true)]))
  for (const part of [
    '| Pass rate | 90 % | 85 % |',
    'No significant difference: 1 better, 2 worse, 17 unchanged, 1 new (p = 0.50).',
    '6 runs: `▅▅▅▇▇▇` 50 % to 85 %',
    '| `contains` | 0.50 | 1/2 |',
    '<details><summary>Differences from the baseline (3)</summary>',
    '**▼ worse 4** `How many days?`',
    '- You get 27 days of leave [1].\n+ You get 25 days of leave [1].',
    '<details><summary>Failed (1)</summary>',
    '`contains 0.00 (needs 1)`<br>',
  ])
    assert.match(markdown, part)
})

test('texts of models cannot add mentions, links, images or HTML, nor leave their code block', () => {
  const attack = '```\n@everyone ![x](https://attacker.example/x.png) <img src=x> </details>\n````\n~~~ | `a` ``b``'
  const result = { ...createResult(0, false, attack), input: { text: attack, omitted: 0 }, error: attack }
  const report = { ...createRunReport([result]), name: attack }
  const rest = removeCode(formatRunMarkdown(report))
  assert.not.match(rest, /@everyone|attacker|<img|~~~/)
  assert.is(rest.match(/<\/details>/g)?.length, 2)
})

test('a report of 10,000 long failures fits into a comment and counts the rest', () => {
  const results = Array.from({ length: 10_000 }, (_, position) => createResult(position, false, 'long '.repeat(4_000)))
  const markdown = formatRunMarkdown(createRunReport(results))
  assert.ok(markdown.length < 65_536, String(markdown.length))
  assert.match(markdown, /… and 9,9\d\d more/)
  assert.match(markdown, 'Failed (10,000)')
})

test.run()
