/** Selects lines of a document within a limit of characters. */
import type { ParsedDocument } from '../readers/parsed-document.ts'
import type { DocumentText, LineRange } from './parser-task.ts'

/** Returns no lines if the range begins after the last one. */
export function selectLines(document: Pick<ParsedDocument, 'text' | 'rest' | 'scans'>, range: LineRange): DocumentText {
  const { from, fromCharacter = 1, to, maxCharacters } = range
  const selected: string[] = []
  let lines = 0
  let characters = 0
  let nextCharacter: number | undefined
  for (const whole of generateLines(document)) {
    lines++
    if (lines < from || lines > to || characters > maxCharacters) continue
    const line = lines === from ? whole.slice(fromCharacter - 1).toWellFormed() : whole
    characters += line.length + 1
    if (characters <= maxCharacters + 1) selected.push(line)
    else if (selected.length === 0) {
      const part = line.slice(0, maxCharacters).replace(/[\uD800-\uDBFF]$/, '')
      selected.push(part)
      nextCharacter = fromCharacter + part.length
    }
  }
  return {
    text: selected.join('\n'),
    from,
    to: from + selected.length - 1,
    lines,
    ...(nextCharacter === undefined ? {} : { nextCharacter }),
    ...(document.scans?.length ? { scans: document.scans } : {}),
  }
}

/** Reads one part of a large table at a time. */
function* generateLines({ text, rest }: Pick<ParsedDocument, 'text' | 'rest'>): Generator<string> {
  yield* text.replace(/\n$/, '').split('\n')
  for (const part of rest?.() ?? []) {
    yield ''
    yield* part.text.split('\n')
  }
}
