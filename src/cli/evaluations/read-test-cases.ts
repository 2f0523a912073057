/** Reads evaluations from YAML or JSON, and test cases from YAML, JSON, JSON Lines or CSV. */
import { basename, extname } from 'node:path'
import { CadreError } from '../../contract/errors.ts'
import { detectSeparator, parseCsv } from '../input/csv.ts'
import { type Body, type InputReader, parseJson, parseResources, type ResourceInput } from '../input/input-reader.ts'
import { UsageError } from '../terminal/errors.ts'

export async function readEvaluations(file: string, reader: InputReader): Promise<ResourceInput> {
  const text = await reader.readFile(file)
  const kind = file === '-' ? detectFormat(text) : FILE_FORMATS[extname(file).toLowerCase()]
  const place = file === '-' ? 'Stdin' : file
  if (kind === 'table') return createEvaluation(file, await parseTable(text, place))
  if (kind === 'lines') return createEvaluation(file, parseJsonLines(text, place), splitLines(text))
  const { isList: list, bodies } = await parseResources(text, file)
  const areCases = list && bodies.every((body) => 'input' in body && !('test_cases' in body))
  return areCases ? createEvaluation(file, bodies) : { isList: list, bodies }
}

type FileFormat = 'table' | 'lines'
const FILE_FORMATS: Record<string, FileFormat> = { '.csv': 'table', '.tsv': 'table', '.jsonl': 'lines', '.ndjson': 'lines' }

/** Detects the format of stdin: CSV has a header with an input column, JSON Lines have several objects. */
function detectFormat(text: string): FileFormat | undefined {
  const [first = '', second] = text.split('\n', 20).filter((line) => line.trim() !== '')
  if (normalizeColumns(first.trimEnd().replaceAll('"', '').split(detectSeparator(first))).includes('input')) return 'table'
  return second !== undefined && /^\s*\{.*\}\s*$/.test(first) ? 'lines' : undefined
}

/** Creates an evaluation from test cases alone; flags set its target, and its type defaults to agent. */
function createEvaluation(file: string, test_cases: Body[], lines?: readonly { number: number }[]): ResourceInput {
  if (test_cases.length === 0) throw new UsageError(`${file === '-' ? 'Stdin' : file} contains no test cases.`)
  const name = file === '-' ? 'Evaluation' : basename(file, extname(file))
  const placeOf = (refusal: unknown) => {
    const field = refusal instanceof CadreError ? refusal.details?.[0]?.field : undefined
    const [, index] = /^test_cases\.(\d+)/.exec(field ?? '') ?? []
    if (index === undefined) return undefined
    const place = lines ? `line ${lines[Number(index)]?.number}` : `test case ${Number(index) + 1}`
    return `${place} of ${file === '-' ? 'stdin' : file}`
  }
  return { isList: false, bodies: [{ test_cases }], defaults: { name, type: 'agent' }, locateError: placeOf }
}

const splitLines = (text: string) =>
  text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(({ line }) => line.trim() !== '')

const parseJsonLines = (text: string, file: string): Body[] =>
  splitLines(text).map(
    ({ line, number }) => parseJson(line, `Line ${number} of ${file}`, 'Each line must be a test case as a JSON object.') as Body,
  )

const FIELDS = ['input', 'expected_output', 'expected_sources', 'scorers', 'metadata', 'variables']
const LIST_FIELDS = new Set(['expected_sources', 'scorers'])
const OBJECT_FIELDS = new Set(['metadata', 'variables'])

/**
 * Columns are named after the fields of a test case. metadata and variables contain JSON, metadata.x and variables.x
 * one key of it; other columns become metadata.
 */
async function parseTable(text: string, file: string): Promise<Body[]> {
  const [names = [], ...rows] = await parseRows(text, file)
  const head = normalizeColumns(names)
  if (!head.includes('input'))
    throw new UsageError(`${file} has no column "input".`, `The first line must name the columns; found ${head.join(', ') || 'none'}.`)
  const twice = head.find((column, index) => column !== '' && head.indexOf(column) < index)
  if (twice !== undefined) throw new UsageError(`${file} has two columns "${twice}".`)
  return rows.map((row, at) => {
    const where = `Test case ${at + 1} of ${file}`
    if (row.slice(head.length).some((cell) => cell !== ''))
      throw new UsageError(`${where} has ${row.length} cells for ${head.length} columns.`, 'Quote texts that contain a comma: "one, two".')
    const test: Body = {}
    for (const [index, column] of head.entries()) {
      const value = row[index] ?? ''
      if (value !== '') setField(test, column, value, where)
    }
    return test
  })
}

/** Accepts spellings such as `Expected Output` and `expected` for expected_output. */
const normalizeColumns = (names: readonly string[]): string[] =>
  names.map((name) => {
    const plain = name.trim()
    const field = plain.toLowerCase().replaceAll(/[\s-]+/g, '_')
    return field === 'expected' ? 'expected_output' : FIELDS.includes(field) ? field : plain
  })

async function parseRows(text: string, file: string): Promise<string[][]> {
  try {
    return await parseCsv(text, detectSeparator(text.split(/\r?\n/, 1)[0] as string))
  } catch (error) {
    throw new UsageError(
      `${file} is not CSV: ${(error as Error).message}`,
      'Quote texts that contain quotes, and double the quotes inside: "She said ""yes""".',
    )
  }
}

function setField(test: Body, column: string, value: string, where: string): void {
  const [, group, name] = /^(metadata|variables)\.(.+)$/.exec(column) ?? []
  if (group && name) test[group] = { ...(test[group] as Body | undefined), [name]: value }
  else if (OBJECT_FIELDS.has(column))
    test[column] = { ...(test[column] as Body | undefined), ...parseObject(value, `${where}, column "${column}",`) }
  else if (LIST_FIELDS.has(column)) test[column] = value.split(';').map((part) => part.trim())
  else if (column === 'input' || column === 'expected_output') test[column] = value
  else test.metadata = { ...(test.metadata as Body | undefined), [column]: value }
}

function parseObject(value: string, where: string): Body {
  const group = parseJson(value, where, 'Use an object such as {"name": "Ada"}, or a column such as variables.name.')
  if (typeof group === 'object' && group !== null && !Array.isArray(group)) return group as Body
  throw new UsageError(`${where} is not an object.`)
}
