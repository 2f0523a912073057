/** Sentences on a terminal, broken between words; what is to be copied from them stays whole. */
import { asTyped, FIRST_WORDS } from './invocation.ts'
import { printable, width } from './text.ts'

/** A command up to the end of its sentence, or a word. A line end inside of a command would be pasted with it; the terminal's own break is not. */
const UNIT = new RegExp(
  `( *)((?:\\u001b\\[\\d+m|[("'])*(?:cadre|npx cadre|node \\S+)(?= (?:${FIRST_WORDS.join('|')}|--help)\\b)(?: \\S+)*?(?=$|(?<=[.;,:)](?:\\u001b\\[\\d+m)?) )|\\S+)`,
  'g',
)

/** The text in lines of at most that many columns, but for commands, addresses and paths that are longer. What begins with spaces goes on below them. */
export function inLines(text: string, columns: number, hang = 0): string {
  return asTyped(text)
    .split('\n')
    .flatMap((line) => broken(line, columns, hang))
    .join('\n')
}

/** The same for what goes to a stream: where there is no terminal lines stay as they are. */
export function forStream(text: string, stream: NodeJS.WriteStream, hang = 0): string {
  return stream.isTTY ? inLines(text, stream.columns || 80, hang) : text
}

const shown = (text: string) => width(printable(text))

function broken(line: string, columns: number, hang: number): string[] {
  if (shown(line) <= columns) return [line]
  const margin = ' '.repeat((/^ */.exec(line)?.[0].length ?? 0) + hang)
  const lines: string[] = []
  let current = ''
  for (const [, space = '', unit = ''] of line.matchAll(UNIT)) {
    if (current.trim() === '' || shown(current + space + unit) <= columns) current += space + unit
    else {
      lines.push(current)
      current = margin + unit
    }
  }
  return [...lines, current]
}
