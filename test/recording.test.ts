/** The terminal recording of the README. */
import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseRuns, renderTerminalSvg } from '../scripts/terminal-svg.ts'

const test = suite('recording')

test('the recording is small, self-contained and names no machine', () => {
  const svg = readFileSync(new URL('../docs/recording.svg', import.meta.url), 'utf8')
  assert.ok(svg.length < 100_000)
  assert.not.match(svg.replace('http://www.w3.org/2000/svg', ''), /href|url\(|<script|<image|@font-face|\/home\/|\/tmp\/|\/Users\//)
  assert.match(svg, 'cadre quickstart')
  assert.match(svg, 'http://127.0.0.1:7411<', 'the default port')
  assert.match(readFileSync(new URL('../README.md', import.meta.url), 'utf8'), '](docs/recording.svg)')
})

test('a color lasts across lines until it changes', () => {
  const [first, second] = parseRuns('a \u001b[1;36mb\n\u001b[39mc\u001b[0m d')
  assert.equal(
    [...(first ?? []), ...(second ?? [])].map(({ text, column, bold, color }) => [text, column, bold, color]),
    [
      ['a ', 0, false, undefined],
      ['b', 2, true, 36],
      ['c', 0, true, undefined],
      [' d', 1, false, undefined],
    ],
  )
})

test('the text of the terminal is escaped', () => {
  assert.match(renderTerminalSvg('<a & "b">', { title: 't', columns: 20 }), '&lt;a &amp; &quot;b&quot;&gt;')
})

test.run()
