/** How the CPU time of text functions grows with repetitive or malformed input: quadratic growth would block the daemon. */
import { generatePassages } from '../../daemon/knowledge/chunking/chunk-document.ts'
import { readDocument } from '../../daemon/knowledge/readers/read-document.ts'
import { removeMarkup } from '../../daemon/knowledge/readers/remove-markup.ts'
import { extractLinks } from '../../daemon/knowledge/sources/web/extract-links.ts'
import { stripMarkdown } from '../../daemon/language/parse-markdown.ts'
import { tokenize } from '../../daemon/language/tokenize.ts'
import { parseBlocks, parseParts } from '../../daemon/models/quoted-answers/parse-passage.ts'
import { findIdentifiers } from '../../daemon/models/quoted-answers/question/find-identifiers.ts'
import { stringWidth, wrap } from '../../src/cli/terminal/text.ts'
import type { Benchmark, Figure } from '../support/figures.ts'
import { measureCpu } from '../support/measure-cpu.ts'

const SIZE = 50_000
const GROWTH = 10
/** Linear growth is 10. Short times vary. */
const BAR = { most: 40 }
/** Shorter times are not compared. */
const MIN_MS = 8

const SYNTAX = [
  'word ',
  'x',
  '. ',
  '....',
  '# ',
  '| a ',
  '中',
  '\n',
  ' ',
  '- a\n',
  '```\n',
  '"',
  'a\n=\n',
  'Title\n---\n',
  '> ',
  '#\n',
  '[a]\n',
]
const MARKUP = [
  '<',
  '<a ',
  '<a href="',
  '<!--',
  '<!-- ',
  '<title>',
  '<script>',
  '<p>',
  '<td>',
  '<![CDATA[',
  '&',
  '[![',
  '![a](',
  '`',
  '[a]: ',
]
const RST = [
  '.. a::\n',
  '.. note:: ',
  '..\n',
  '`',
  '``',
  '`a <',
  ':a:`',
  'a_ ',
  '|a',
  '\\',
  'a::\n\n',
  '+--+\n| a\n',
  '== ==\n',
  '>>> ',
  '#. a\n',
]
const SCRIPTS = ['日本語の文章を検索する', 'พนักงานทุกคนมีสิทธิ์ลา', '👩‍👩‍👧', 'e\u0301']

async function chunk(text: string, name: string): Promise<void> {
  const document = await readDocument(new Uint8Array(Buffer.from(text)), name)
  for (const _ of generatePassages(document, { size: 800, overlap: 120 }, name));
}

const CASES: { name: string; units: readonly string[]; run(text: string): unknown }[] = [
  ...['a.md', 'a.txt', 'a.conf', 'a.csv', 'a.js', 'a.rst'].map((name) => ({
    name: `read and chunk ${name}`,
    units: SYNTAX,
    run: (text: string) => chunk(`start ${text} end`, name),
  })),
  { name: 'read and chunk a.html', units: MARKUP, run: (text) => chunk(`<html>start ${text} end`, 'a.html') },
  { name: 'read and chunk reStructuredText', units: RST, run: (text) => chunk(`start\n\n${text}\n\nend`, 'a.rst') },
  { name: 'remove markup', units: MARKUP, run: removeMarkup },
  { name: 'extract links', units: MARKUP, run: extractLinks },
  { name: 'find identifiers', units: ['"a', 'x1-', '7.'], run: findIdentifiers },
  {
    name: 'strip Markdown',
    units: ['*', '_a', '`a', '[a](', '- ', '<a '],
    run: (text) => parseParts(text, parseBlocks(text)).map(({ start, end }) => stripMarkdown(text.slice(start, end))),
  },
  { name: 'tokenize', units: SCRIPTS, run: tokenize },
  { name: 'wrap in the terminal', units: SCRIPTS, run: (text) => [stringWidth(text), wrap(text, 80)] },
]

export const growth: Benchmark = {
  name: 'growth',
  async run() {
    const figures: Figure[] = []
    for (const { name, units, run } of CASES) {
      let worst = { ratio: 0, figure: '' }
      for (const unit of units) {
        const measure = (length: number) => measureCpu(() => run(unit.repeat(length / unit.length)))
        await measure(SIZE / GROWTH) // compiles the code
        const [small, large] = [await measure(SIZE), await measure(GROWTH * SIZE)]
        const ratio = large / Math.max(small, MIN_MS)
        if (ratio > worst.ratio) worst = { ratio, figure: `${JSON.stringify(unit)}: ${small.toFixed(0)} ms, ${large.toFixed(0)} ms` }
      }
      figures.push({ name: `growth: ${name}`, ...worst, bar: BAR })
    }
    return figures
  },
}
