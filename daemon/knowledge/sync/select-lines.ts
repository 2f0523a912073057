/** Selects lines of a document within a limit of characters. */
import type { ParsedDocument } from '../readers/parsed-document.ts'
import type { DocumentText, LineRange } from './parser-protocol.ts'

/** Returns no lines if the range begins after the last one. */
export function selectLines(document: Pick<ParsedDocument, 'text' | 'rest'>, { from, to, maxCharacters }: LineRange): DocumentText {
  const selected: string[] = []
  let lines = 0
  let characters = 0
  let isCut = false
  for (const line of generateLines(document)) {
    lines++
    if (lines < from || lines > to || characters > maxCharacters) continue
    characters += line.length + 1
    if (characters <= maxCharacters + 1) selected.push(line)
    else if (selected.length === 0) {
      selected.push(line.slice(0, maxCharacters).toWellFormed())
      isCut = true
    }
  }
  return { text: selected.join('\n'), from, to: from + selected.length - 1, lines, isCut }
}

/** Reads one part of a large table at a time. */
function* generateLines({ text, rest }: Pick<ParsedDocument, 'text' | 'rest'>): Generator<string> {
  yield* text.replace(/\n$/, '').split('\n')
  for (const part of rest?.() ?? []) {
    yield ''
    yield* part.split('\n')
  }
}
