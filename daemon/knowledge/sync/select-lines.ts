/** Selects lines of a text within a limit of characters. */
import type { DocumentText, LineRange } from './parser-protocol.ts'

/** Returns no lines if the range begins after the last one. */
export function selectLines(text: string, { from, to, maxCharacters }: LineRange): DocumentText {
  const lines = text.replace(/\n$/, '').split('\n')
  const selected: string[] = []
  let characters = 0
  for (const line of lines.slice(from - 1, to)) {
    characters += line.length + 1
    if (characters > maxCharacters + 1) break
    selected.push(line)
  }
  const [next] = lines.slice(from - 1)
  const isCut = selected.length === 0 && next !== undefined
  if (isCut) selected.push(next.slice(0, maxCharacters).toWellFormed())
  return { text: selected.join('\n'), from, to: from + selected.length - 1, lines: lines.length, isCut }
}
