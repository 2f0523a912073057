/** Formats data as a table, JSON, YAML or CSV. */
import { formatRecord, getOutput, layOutTable, type RenderedText, type Row } from './table.ts'
import { hasControlCharacters, sanitizeText } from './text.ts'

export const FORMATS = ['table', 'json', 'yaml', 'csv'] as const
export type Format = (typeof FORMATS)[number]

export interface OutputData {
  data: Row | readonly Row[]
  /** Columns of the table if the data is a list. */
  columns?: readonly string[]
}

/** Without a trailing newline. Only tables can have hidden columns. `raw` keeps control characters in CSV. */
export async function render(
  { data, columns }: OutputData,
  format: Format,
  { raw = false }: { raw?: boolean } = {},
): Promise<RenderedText> {
  const rows = (Array.isArray(data) ? data : [data]) as Row[]
  if (format === 'table' && Array.isArray(data)) return layOutTable(rows, columns ?? Object.keys(rows[0] ?? {}), getOutput(process.stdout))
  const whole = (text: string) => ({ text, hidden: [] })
  if (format === 'json') return whole(formatJson(data))
  if (format === 'yaml') return whole(await formatYaml(data))
  if (format === 'csv') return whole(formatCsv(rows, raw))
  return whole(formatRecord(data as Row, getOutput(process.stdout)))
}

export function formatJson(data: unknown): string {
  return escapeControls(JSON.stringify(data, null, 2))
}

export function formatJsonLine(data: unknown): string {
  return escapeControls(JSON.stringify(data))
}

/** Also escapes the control characters above ~ and bidirectional marks, which JSON allows but terminals interpret. */
function escapeControls(json: string): string {
  return json.replaceAll(
    /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g,
    (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

async function formatYaml(data: unknown): Promise<string> {
  const { stringify } = await import('./yaml.ts')
  const text = stringify(data, { lineWidth: 0 })
  if (!hasControlCharacters(text)) return text.trimEnd()
  // YAML would contain the characters literally; JSON is valid YAML and escapes them.
  return formatJson(data)
}

function formatCsv(rows: readonly Row[], raw: boolean): string {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const cell = (value: unknown) => {
    const data = value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value)
    const text = raw ? data : sanitizeText(data)
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return [keys, ...rows.map((row) => keys.map((key) => row[key]))].map((line) => line.map(cell).join(',')).join('\r\n')
}
