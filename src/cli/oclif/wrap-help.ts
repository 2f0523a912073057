/** Wraps lines of the help that oclif leaves longer than the terminal: summaries, and examples. */
import { stripVTControlCharacters } from 'node:util'
import { stringWidth, wrap } from '../terminal/text.ts'

const EXAMPLE = /^( *)\$ /
const SHELL_WORD = /(?:[^\s'"]|'[^']*'|"[^"]*")+/g

export function wrapHelp(text: string, columns: number): string {
  const fits = (line: string) => stringWidth(stripVTControlCharacters(line)) <= columns
  return text
    .split('\n')
    .flatMap((line) => (fits(line) ? [line] : EXAMPLE.test(line) ? wrapExample(line, columns) : wrap(line, columns)))
    .join('\n')
}

/** A shell accepts the lines as one command. Words and quoted text are not broken, since a shell would receive something else. */
function wrapExample(line: string, columns: number): string[] {
  const [first = '', ...words] = line.match(SHELL_WORD) ?? []
  const [, indent = ''] = EXAMPLE.exec(line) ?? []
  if ([first, ...words].join(' ') !== line.trim()) return [line]
  const lines: string[] = []
  let current = indent + first
  for (const [index, word] of words.entries()) {
    const end = index < words.length - 1 ? ' \\' : ''
    if (index > 0 && stringWidth(`${current} ${word}${end}`) > columns) {
      lines.push(`${current} \\`)
      current = `${indent}  ${word}`
    } else current += ` ${word}`
  }
  return [...lines, current]
}
