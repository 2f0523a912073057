/** Loads WikiTableQuestions: questions over tables with their answers, and compares answers. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { parse } from 'csv-parse/sync'
import { parseDate, parseNumber } from '../../daemon/tables/cells/parse-cell.ts'

/** Contains questions.tsv.gz and tables.tar.gz. */
const FOLDER = process.env.CADRE_TABLE_QUESTIONS ?? join('..', 'shared', 'tables')

export interface TableQuestion {
  id: string
  split: 'train' | 'dev'
  table: string
  text: string
  answers: string[]
}

export interface QuestionTable {
  header: string[]
  rows: string[][]
}

export function loadTableQuestions(): { questions: TableQuestion[]; tables: Map<string, QuestionTable> } | undefined {
  const path = join(FOLDER, 'questions.tsv.gz')
  if (!existsSync(path)) return undefined
  const lines = gunzipSync(readFileSync(path)).toString().split('\n').filter(Boolean)
  const questions = lines.map((line): TableQuestion => {
    const [id = '', split = '', table = '', text = '', answer = ''] = line.split('\t')
    return { id, split: split as 'train' | 'dev', table, text, answers: answer.split('|') }
  })
  const tables = new Map<string, QuestionTable>()
  for (const [name, content] of readTar(gunzipSync(readFileSync(join(FOLDER, 'tables.tar.gz')))))
    if (name.endsWith('.csv')) tables.set(name.replace(/^\.\//, ''), parseTable(content))
  return { questions, tables }
}

function parseTable(content: string): QuestionTable {
  const records = parse(content, { escape: '\\', relax_column_count: true, relax_quotes: true }) as string[][]
  const [header = [], ...rows] = records.map((row) => row.map((cell) => cell.replaceAll(/\s+/g, ' ').trim()))
  return { header, rows }
}

function* readTar(bytes: Buffer): Generator<[string, string]> {
  for (let offset = 0; offset + 512 <= bytes.length; ) {
    const field = (start: number, length: number) => bytes.toString('latin1', offset + start, offset + start + length).replace(/\0.*$/s, '')
    const size = Number.parseInt(field(124, 12), 8) || 0
    const name = [field(345, 155), field(0, 100)].filter(Boolean).join('/')
    if (name !== '') yield [name, bytes.toString('utf8', offset + 512, offset + 512 + size)]
    offset += 512 + Math.ceil(size / 512) * 512
  }
}

/** Compares sets of answers: numbers as numbers, dates as dates, other texts without case, accents and marks. */
export function isSameAnswer(found: readonly string[], expected: readonly string[]): boolean {
  const unique = [...new Set(found.map(normalize))]
  const wanted = [...new Set(expected.map(normalize))]
  return unique.length === wanted.length && wanted.every((value) => unique.some((other) => isSameValue(value, other)))
}

function isSameValue(first: string, second: string): boolean {
  if (first === second) return true
  const [a, b] = [parseNumber(first), parseNumber(second)]
  if (a && b && a.isWhole && b.isWhole && a.unit === b.unit && Math.abs(a.value - b.value) < 1e-6) return true
  const [day, other] = [parseDate(first), parseDate(second)]
  return day?.isWhole === true && day.iso === other?.iso
}

const normalize = (text: string) =>
  text
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[‘’´`]/g, "'")
    .replaceAll(/[“”]/g, '"')
    .replaceAll(/[‐‑‒–—−]/g, '-')
    .replace(/\s*(?:\[[^\]]*\]|[♦†‡*#+])+\s*$/u, '')
    .replace(/(?<=.)\s*\([^()]*\)\s*$/, '')
    .replace(/^"([^"]*)"$/, '$1')
    .replace(/\.$/, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toLowerCase()
