/** Functions for lines of reStructuredText: indentation, options, code and headings. */

const TAB_WIDTH = 8
const OPTION = /^:([\w-]{1,60}):(?:[ \t]+(.*))?$/

/** Returns the number of columns before the text of a line. */
export function measureIndent(line: string): number {
  let columns = 0
  for (const character of line) {
    if (character !== ' ' && character !== '\t') break
    columns += character === '\t' ? TAB_WIDTH - (columns % TAB_WIDTH) : 1
  }
  return columns
}

/** Removes the indentation that all lines share. */
export function dedentLines(lines: readonly string[]): string[] {
  const shared = lines.reduce(
    (least, line) => (line.trim() === '' ? least : Math.min(least, measureIndent(line))),
    Number.POSITIVE_INFINITY,
  )
  return lines.map((line) => (line.trim() === '' ? '' : removeIndent(line, shared)))
}

function removeIndent(line: string, width: number): string {
  let at = 0
  let columns = 0
  for (; columns < width; at++) columns += line[at] === '\t' ? TAB_WIDTH - (columns % TAB_WIDTH) : 1
  return ' '.repeat(columns - width) + line.slice(at)
}

/** Takes the options from the start of the body of a directive. Their values may continue on indented lines. */
export function splitOptions(body: readonly string[]): { options: Map<string, string>; rest: string[] } {
  const options = new Map<string, string>()
  let name = ''
  let end = 0
  for (const line of body) {
    const [, key, value = ''] = OPTION.exec(line) ?? []
    if (key === undefined && (name === '' || !/^[ \t]+\S/.test(line))) break
    options.set(key ?? name, key === undefined ? `${options.get(name) ?? ''} ${line.trim()}` : value)
    name = key ?? name
    end++
  }
  return { options, rest: body.slice(end) }
}

/** The fence is longer than those in the code. */
export function formatFence(lines: readonly string[], language: string): string[] {
  const first = lines.findIndex((line) => line.trim() !== '')
  const last = lines.findLastIndex((line) => line.trim() !== '')
  if (first < 0) return []
  const code = dedentLines(lines.slice(first, last + 1))
  const longest = code.flatMap((line) => line.match(/`{3,}/g) ?? []).reduce((length, run) => Math.max(length, run.length), 2)
  const fence = '`'.repeat(longest + 1)
  return [fence + language, ...code, fence]
}

/** Three or more times the same punctuation character, and nothing else. */
export function isUnderline(line: string): boolean {
  const trimmed = line.trimEnd()
  return trimmed.length >= 3 && /^[=\-~^"'`#*+:.<>_]/.test(trimmed) && trimmed === (trimmed[0] ?? '').repeat(trimmed.length)
}

/** Returns the heading that starts at a line. Each document assigns its marks to levels itself. */
export function parseHeading(lines: readonly string[], index: number): { title: string; mark: string; lineCount: number } | undefined {
  const [first = '', second = '', third = ''] = lines.slice(index, index + 3)
  const hasOverline = isUnderline(first) && isUnderline(third) && second.trim() !== '' && first[0] === third[0]
  const [title, underline] = hasOverline ? [second, first] : [first, second]
  const isTitle = title.trim() !== '' && !isUnderline(title) && (hasOverline || !/^\s/.test(title))
  if (!isTitle || !isUnderline(underline) || underline.trimEnd().length < title.trimEnd().length - 1) return undefined
  return { title: title.trim(), mark: (hasOverline ? '^' : '_') + underline[0], lineCount: hasOverline ? 3 : 2 }
}
