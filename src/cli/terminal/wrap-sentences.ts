/** Sentences on a terminal, broken between words; what is to be copied from them stays whole. */
import { rewriteCommands, TOP_LEVEL_COMMANDS } from './invocation.ts'
import { sanitizeText, width } from './text.ts'

/** A command up to the end of its sentence, or a word. A line end inside of a command would be pasted with it; the terminal's own break is not. */
const UNBREAKABLE = new RegExp(
  `( *)((?:\\u001b\\[\\d+m|[("'])*(?:cadre|npx cadre|node \\S+)(?= (?:${TOP_LEVEL_COMMANDS.join('|')}|--help)\\b)(?: \\S+)*?(?=$|(?<=[.;,:)](?:\\u001b\\[\\d+m)?) )|\\S+)`,
  'g',
)

/** The text in lines of at most that many columns, but for commands, addresses and paths that are longer. What begins with spaces goes on below them. */
export function wrapSentences(text: string, columns: number, hang = 0): string {
  return rewriteCommands(text)
    .split('\n')
    .flatMap((line) => wrapLine(line, columns, hang))
    .join('\n')
}

/** The same for what goes to a stream: where there is no terminal lines stay as they are. */
export function wrapForStream(text: string, stream: NodeJS.WriteStream, hang = 0): string {
  return stream.isTTY ? wrapSentences(text, stream.columns || 80, hang) : text
}

const visibleWidth = (text: string) => width(sanitizeText(text))

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
