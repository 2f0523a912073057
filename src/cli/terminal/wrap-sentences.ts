/** Wraps messages between words, but never inside commands, addresses and paths, which users copy. */
import { rewriteCommands, TOP_LEVEL_COMMANDS } from './invocation.ts'
import { sanitizeText, stringWidth } from './text.ts'

/** A command up to the end of its sentence, or a word. A newline inside a command would be copied with it. */
const UNBREAKABLE = new RegExp(
  `( *)((?:\\u001b\\[\\d+m|[("'])*(?:cadre|npx cadre|node \\S+)(?= (?:${TOP_LEVEL_COMMANDS.join('|')}|--help)\\b)(?: ` +
    '\\S+)*?(?=$|(?<=[.;,:)](?:\\u001b\\[\\d+m)?) )|\\S+)',
  'g',
)

/** Continuation lines keep the indentation of the line, plus `hang`. */
export function wrapSentences(text: string, columns: number, hang = 0): string {
  return rewriteCommands(text)
    .split('\n')
    .flatMap((line) => wrapLine(line, columns, hang))
    .join('\n')
}

/** Does not wrap if the stream is not a terminal. */
export function wrapForStream(text: string, stream: NodeJS.WriteStream, hang = 0): string {
  return stream.isTTY ? wrapSentences(text, stream.columns || 80, hang) : text
}

const visibleWidth = (text: string) => stringWidth(sanitizeText(text))

function wrapLine(line: string, columns: number, hang: number): string[] {
  if (visibleWidth(line) <= columns) return [line]
  const margin = ' '.repeat((/^ */.exec(line)?.[0].length ?? 0) + hang)
  const lines: string[] = []
  let current = ''
  for (const [, space = '', unit = ''] of line.matchAll(UNBREAKABLE)) {
    if (current.trim() === '' || visibleWidth(current + space + unit) <= columns) current += space + unit
    else {
      lines.push(current)
      current = margin + unit
    }
  }
  return [...lines, current]
}
