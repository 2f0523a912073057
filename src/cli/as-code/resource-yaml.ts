/** Formats a resource as YAML, deterministically, and parses it with line numbers in errors. */
import { type Body, isObject } from '../input/input-reader.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { truncate } from '../terminal/text.ts'

/** Control characters, line separators and bidirectional marks are escaped, so that they are visible in the file. */
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
const INVISIBLE_IN_QUOTES = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

export async function formatResource(fields: Body): Promise<string> {
  const { Document, visit } = await import('../terminal/yaml.ts')
  const document = new Document(fields, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && INVISIBLE.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  // The remaining ones are in double quotes, where YAML supports escapes.
  return document
    .toString({ lineWidth: 0 })
    .replaceAll(INVISIBLE_IN_QUOTES, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export async function parseResource(text: string, file: string): Promise<Body> {
  const { LineCounter, parseDocument, visit } = await import('../terminal/yaml.ts')
  const lines = new LineCounter()
  const createError = (problem: string, offset: number, hint: string) => {
    const { line } = lines.linePos(offset)
    const shown = truncate((text.split(/\r?\n/, line)[line - 1] ?? '').trim(), 80)
    return new UsageError(`${file}, line ${line}: ${problem}${shown === '' ? '.' : `: ${shown}`}`, hint)
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
    const [problem] = [...document.errors, ...document.warnings]
    if (problem?.code === 'MULTIPLE_DOCS') throw createError('another document starts here', problem.pos[0], 'Use one file per resource.')
    if (problem) throw createError(lowerFirst(problem.message), problem.pos[0], YAML_HINT)
    visit(document, {
      // Nested aliases can expand to billions of values.
      Alias: (_, alias) => {
        throw createError('aliases are not supported', alias.range?.[0] ?? 0, 'Replace *name by its value.')
      },
    })
    const fields: unknown = document.toJS()
    if (isObject(fields)) return fields
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UsageError(`${file} is nested too deeply.`) // the parser is recursive
  }
  throw new UsageError(`${file} contains no fields.`, 'A file must contain the fields of one resource, such as name: Helper.')
}

const YAML_HINT = 'Fix that line: quote text that contains a colon, # or bracket, and indent with spaces.'

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
