import { parseJson } from './input-reader.ts'

/** Skips empty lines. */
export function parseJsonLines(text: string, file: string, hint?: string): { value: unknown; line: number }[] {
  const lines = text.split('\n').map((content, index) => ({ content, line: index + 1 }))
  return lines
    .filter(({ content }) => content.trim() !== '')
    .map(({ content, line }) => ({ value: parseJson(content, `Line ${line} of ${file}`, hint), line }))
}
