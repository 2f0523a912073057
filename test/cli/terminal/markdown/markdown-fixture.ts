/** Markdown with all blocks, rendered at once and as a stream. */
import { renderMarkdown } from '../../../../src/cli/terminal/markdown/render-markdown.ts'
import { INITIAL_STREAM, renderStream, type StreamState } from '../../../../src/cli/terminal/markdown/streaming-markdown.ts'
import { foldLine, type Line, toPlainText } from '../../../../src/cli/terminal/markdown/styled-text.ts'

const fold = (lines: readonly Line[], columns: number) => lines.flatMap((line) => foldLine(line, columns)).map(toPlainText)

export const renderPlain = (text: string, columns = 60) => fold(renderMarkdown(text, columns), columns)

/** Returns the final lines, and the live lines after each piece. */
export function stream(pieces: readonly string[], columns = 60): { done: string[]; live: string[][] } {
  let state: StreamState = INITIAL_STREAM
  const done: Line[] = []
  const live: string[][] = []
  let text = ''
  for (const piece of [...pieces, undefined]) {
    text += piece ?? ''
    const next = renderStream(state, text, columns, piece === undefined)
    state = next.state
    done.push(...next.done)
    live.push(fold(next.live, columns))
  }
  return { done: fold(done, columns), live }
}

export const EVERYTHING = `# Leave

You have **25 days** of *paid* leave a year [1], ~~not~~ see [the handbook](https://example.com/leave).

## What counts

- weekends do not
  - nor do holidays
    1. of the state
    2. of the country
- \`half days\` do

3. third
4. fourth

- [x] asked
- [ ] approved

> Ask early.
> Ask twice.

| Kind | Days | Note |
|:-----|-----:|:----:|
| annual | 25 | paid |
| 日本語 | 5 | 👩‍👩‍👧 |

\`\`\`ts
const days = 25 // a year
/* not
   less */
\`\`\`

---

The end.`
