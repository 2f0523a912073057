/** One resource as YAML, and back: the same text for the same fields, and a line for whatever cannot be read. */
import { UsageError } from '../terminal/errors.ts'
import { truncate } from '../terminal/text.ts'

export type Fields = Record<string, unknown>

/** Characters that steer a terminal, end lines unseen or turn text around: in a file they are spelled out, so that a reader sees them. */
const INVISIBLE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/
const INVISIBLE_IN_QUOTES = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

export async function formatResource(fields: Fields): Promise<string> {
  const { Document, visit } = await import('../terminal/yaml.ts')
  const document = new Document(fields, { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, scalar) => {
      if (typeof scalar.value === 'string' && INVISIBLE.test(scalar.value)) scalar.type = 'QUOTE_DOUBLE'
    },
  })
  // All that are left stand between double quotes, where YAML knows escapes.
  return document
    .toString({ lineWidth: 0 })
    .replaceAll(INVISIBLE_IN_QUOTES, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

export async function parseResource(text: string, file: string): Promise<Fields> {
  const { LineCounter, parseDocument, visit } = await import('../terminal/yaml.ts')
  const lines = new LineCounter()
  const wrong = (problem: string, at: number, hint: string) => {
    const { line } = lines.linePos(at)
    const shown = truncate((text.split(/\r?\n/, line)[line - 1] ?? '').trim(), 80)
    return new UsageError(`${file}, line ${line}: ${problem}${shown === '' ? '.' : `: ${shown}`}`, hint)
  }
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
    const [problem] = [...document.errors, ...document.warnings]
    if (problem?.code === 'MULTIPLE_DOCS')
      throw wrong('here begins another document', problem.pos[0], 'Give each resource a file of its own.')
    if (problem) throw wrong(lowerFirst(problem.message), problem.pos[0], YAML_HINT)
    visit(document, {
      // A few aliases of aliases are billions of values.
      Alias: (_, alias) => {
        throw wrong('aliases are not read', alias.range?.[0] ?? 0, 'Write out what *name stands for.')
      },
    })
    const fields: unknown = document.toJS()
    if (typeof fields === 'object' && fields !== null && !Array.isArray(fields)) return fields as Fields
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new UsageError(`${file} nests too deep to be read.`) // the parser calls itself for each level
  }
  throw new UsageError(`${file} holds no fields.`, 'A file holds the fields of one resource, such as name: Helper.')
}

const YAML_HINT = 'Mend that line: texts with a colon, a # or a bracket in them stand in quotes, and lines are indented with spaces.'

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)
