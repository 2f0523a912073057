/** Reads evaluations from YAML or JSON, and test cases from YAML, JSON, JSON Lines or CSV. */
import { basename, extname } from 'node:path'
import { CadreError } from '../../contract/errors.ts'
import { detectSeparator, parseCsv } from '../input/csv.ts'
import { type Body, type InputReader, isObject, parseJson, parseResources, type ResourceInput } from '../input/input-reader.ts'
import { parseJsonLines } from '../input/json-lines.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

export async function readEvaluations(file: string, reader: InputReader): Promise<ResourceInput> {
  const text = await reader.readFile(file)
  // Without an extension, as in /dev/fd/63, the text says which format it has.
  const format = extname(file) === '' ? detectFormat(text) : FILE_FORMATS[extname(file).toLowerCase()]
  const label = file === '-' ? 'Stdin' : file
  if (format === 'table') return createEvaluation(file, await parseTable(text, label))
  if (format === 'lines') {
    const lines = parseJsonLines(text, label, 'Each line must be a test case as a JSON object.')
    const testCases = lines.map(({ value }) => value as Body)
    return createEvaluation(file, testCases, (index) => `line ${lines[index]?.line}`)
  }
  const { isList, bodies } = await parseResources(text, file, FORMATS_HINT)
  const areTestCases = isList && bodies.every((body) => 'input' in body && !('test_cases' in body))
  return areTestCases ? createEvaluation(file, bodies) : { isList, bodies }
}

const FORMATS_HINT = 'The format follows the extension: .csv, .tsv, .jsonl, .json or .yaml. Without one, it is detected.'

type FileFormat = 'table' | 'lines'
const FILE_FORMATS: Record<string, FileFormat> = { '.csv': 'table', '.tsv': 'table', '.jsonl': 'lines', '.ndjson': 'lines' }

/** For stdin and files without an extension: CSV has a header with an input column, JSON Lines have several objects. */
function detectFormat(text: string): FileFormat | undefined {
  const [first = '', second] = text.split('\n', 20).filter((line) => line.trim() !== '')
  if (normalizeColumns(first.trimEnd().replaceAll('"', '').split(detectSeparator(first))).includes('input')) return 'table'
  return second !== undefined && /^\s*\{.*\}\s*$/.test(first) ? 'lines' : undefined
}

/** Creates an evaluation from test cases alone; flags set its target, and its type defaults to agent. */
function createEvaluation(file: string, test_cases: Body[], formatPosition = (index: number) => `test case ${index + 1}`): ResourceInput {
  if (test_cases.length === 0) throw new UsageError(`${file === '-' ? 'Stdin' : file} contains no test cases.`)
  const name = file === '-' || /^\/(?:dev\/fd|proc)\//.test(file) ? 'Evaluation' : basename(file, extname(file))
  const locateError = (error: unknown) => {
    const field = error instanceof CadreError ? error.details?.[0]?.field : undefined
    const [, index] = /^test_cases\.(\d+)/.exec(field ?? '') ?? []
    return index === undefined ? undefined : `${formatPosition(Number(index))} of ${file === '-' ? 'stdin' : file}`
  }
  return { isList: false, bodies: [{ test_cases }], defaults: { name, type: 'agent' }, locateError }
}

const FIELDS = ['input', 'expected_output', 'expected_sources', 'scorers', 'memories', 'metadata', 'variables']
const LIST_FIELDS = new Set(['expected_sources', 'scorers', 'memories'])
const OBJECT_FIELDS = new Set(['metadata', 'variables'])

/**
 * Columns are named after the fields of a test case. metadata and variables contain JSON, metadata.x and variables.x
 * one key of it; other columns become metadata.
 */
async function parseTable(text: string, file: string): Promise<Body[]> {
  const [names = [], ...rows] = await parseRows(text, file)
  const columns = normalizeColumns(names)
  if (!columns.includes('input'))
    throw new UsageError(`${file} has no column "input".`, `The first line must name the columns; found ${columns.join(', ') || 'none'}.`)
  const duplicate = columns.find((column, index) => column !== '' && columns.indexOf(column) < index)
  if (duplicate !== undefined) throw new UsageError(`${file} has two columns "${duplicate}".`)
  return rows.map((row, rowIndex) => {
    const where = `Test case ${rowIndex + 1} of ${file}`
    if (row.slice(columns.length).some((cell) => cell !== ''))
      throw new UsageError(
        `${where} has ${row.length} cells for ${columns.length} columns.`,
        'Quote texts that contain a comma: "one, two".',
      )
    const testCase: Body = {}
    for (const [index, column] of columns.entries()) {
      const value = row[index] ?? ''
      if (value !== '') setField(testCase, column, value, where)
    }
    return testCase
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

function setField(testCase: Body, column: string, value: string, where: string): void {
  const [, field, key] = /^(metadata|variables)\.(.+)$/.exec(column) ?? []
  if (field && key) testCase[field] = { ...(testCase[field] as Body | undefined), [key]: value }
  else if (OBJECT_FIELDS.has(column))
    testCase[column] = { ...(testCase[column] as Body | undefined), ...parseObject(value, `${where}, column "${column}",`) }
  else if (LIST_FIELDS.has(column)) testCase[column] = value.split(';').map((part) => part.trim())
  else if (column === 'input' || column === 'expected_output') testCase[column] = value
  else testCase.metadata = { ...(testCase.metadata as Body | undefined), [column]: value }
}

function parseObject(value: string, where: string): Body {
  const object = parseJson(value, where, 'Use an object such as {"name": "Ada"}, or a column such as variables.name.')
  if (isObject(object)) return object
  throw new UsageError(`${where} is not an object.`)
}
