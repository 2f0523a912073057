/** Reads Jupyter notebooks: text, code and text output of each cell. */
import { MarkdownWriter } from '../markdown-writer.ts'
import { cleanText, DocumentReadError, joinTexts, type ParsedDocument } from '../parsed-document.ts'
import { isObject, parseJson } from '../read-json.ts'
import { removeMarkup } from '../remove-markup.ts'

/** Output can be arbitrarily long; its start says what it is. */
const MAX_OUTPUT_LENGTH = 5_000
const ESCAPE_SEQUENCE = /\u001b\[[0-9;]{0,20}[A-Za-z]/g

type Fields = Record<string, unknown>

export function readNotebook(source: string): ParsedDocument {
  const notebook = parseJson(source)
  if (!isObject(notebook)) throw new DocumentReadError('The notebook is truncated or damaged: it is not valid JSON.')
  const cells = listCells(notebook)
  const language = findLanguage(notebook)
  const parts: string[] = []
  const pages: ParsedDocument['pages'] = []
  let length = 0
  for (const [index, cell] of cells.entries()) {
    const text = formatCell(cell, language)
    if (text === '') continue
    pages.push({ number: index + 1, start: length })
    parts.push(text)
    length += text.length + 2
  }
  const text = parts.join('\n\n')
  const title = /^#{1,2}[ \t]+(\S.{0,300})$/m.exec(text.slice(0, 20_000))?.[1] ?? null
  return { text, format: 'markdown', pages, title, places: { kind: 'cell' } }
}

const toObjects = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isObject) : [])

/** Before version 4, cells were part of worksheets. */
function listCells(notebook: Fields): Fields[] {
  if (Array.isArray(notebook.cells)) return toObjects(notebook.cells)
  if (Array.isArray(notebook.worksheets)) return toObjects(notebook.worksheets).flatMap(({ cells }) => toObjects(cells))
  throw new DocumentReadError('This is not a notebook: it has no cells.')
}

function findLanguage({ metadata }: Fields): string {
  const { kernelspec, language_info } = isObject(metadata) ? metadata : {}
  const language = (isObject(language_info) && language_info.name) || (isObject(kernelspec) && kernelspec.language)
  return typeof language === 'string' && /^[\w+#-]{1,30}$/.test(language) ? language : 'python'
}

function formatCell(cell: Fields, language: string): string {
  const source = joinLines(cell.source ?? cell.input)
  if (cell.cell_type === 'markdown') return removeMarkup(source).trim()
  if (cell.cell_type === 'heading')
    return `${'#'.repeat(Math.min(Math.max(Number(cell.level) || 1, 1), 6))} ${source.replaceAll('\n', ' ')}`
  if (cell.cell_type !== 'code') return source.trim()
  const writer = new MarkdownWriter()
  writer.writeCode(source, language)
  const output = joinTexts(toObjects(cell.outputs).map(formatOutput), '\n')
  writer.writeCode(output.length > MAX_OUTPUT_LENGTH ? `${output.slice(0, MAX_OUTPUT_LENGTH)}…` : output, '')
  return writer.finish()
}

function formatOutput({ output_type, text, data, ename, evalue }: Fields): string {
  if (output_type === 'error' || output_type === 'pyerr') return [ename, evalue].filter((part) => typeof part === 'string').join(': ')
  const plain = isObject(data) ? joinLines(data['text/plain'] ?? data['text/markdown']) : joinLines(text)
  return plain.replaceAll(ESCAPE_SEQUENCE, '').trimEnd()
}

/** A text is one string, or a list of lines with their newlines. */
function joinLines(value: unknown): string {
  const text = typeof value === 'string' ? value : Array.isArray(value) ? value.filter((line) => typeof line === 'string').join('') : ''
  return cleanText(text)
}
