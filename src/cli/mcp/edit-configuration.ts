/** Changes one property in a JSON file of another program, and keeps comments, order and formatting. */
import { isDeepStrictEqual } from 'node:util'
import { getNodeValue, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser/lib/esm/main.js'
import { UsageError } from '../terminal/failures/command-errors.ts'

const BYTE_ORDER_MARK = '\uFEFF'
const REPAIR_HINT = 'Repair the file, or print the entry with: cadre mcp config'

/** Sets `text[property][name]` and returns the changed text. Throws if the file is damaged: other settings could be lost. */
export function editConfiguration(file: string, text: string, property: string, name: string, value: object): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  const content = text.slice(mark.length)
  const body = content.trim() === '' ? '{}\n' : content
  const root = requireObject(file, parse(file, body))
  const container = findProperty(root, property)
  if (!container) return mark + insertProperty(body, root, property, { [name]: value })
  requireObject(file, container, property)
  const current = findProperty(container, name)
  if (!current) return mark + insertProperty(body, container, name, value)
  if (isDeepStrictEqual(getNodeValue(current), value)) return text
  const json = stringify(body, value, getIndent(body, current.offset))
  return mark + body.slice(0, current.offset) + json + body.slice(current.offset + current.length)
}

function parse(file: string, text: string): Node | undefined {
  const errors: ParseError[] = []
  const root = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (!error) return root
  const line = text.slice(0, error.offset).split('\n').length
  throw new UsageError(`${file} is not valid JSON: ${printParseErrorCode(error.error)} in line ${line}. It was not changed.`, REPAIR_HINT)
}

function requireObject(file: string, node: Node | undefined, property?: string): Node {
  if (node?.type === 'object') return node
  const place = property === undefined ? '' : ` in "${property}"`
  throw new UsageError(`${file} does not contain an object${place}. It was not changed.`, REPAIR_HINT)
}

const findProperty = ({ children = [] }: Node, name: string): Node | undefined =>
  children.find((property) => property.children?.[0]?.value === name)?.children?.[1]

/** Inserts before the first property, so that commas and comments after the last one stay where they are. */
function insertProperty(text: string, { offset, length, children = [] }: Node, name: string, value: object): string {
  const eol = getLineEnd(text)
  const outer = getIndent(text, offset)
  const [first] = children
  const inner = first && text.slice(offset, first.offset).includes('\n') ? getIndent(text, first.offset) : outer + getUnit(text)
  const entry = `${eol}${inner}${JSON.stringify(name)}: ${stringify(text, value, inner)}`
  const inside = text.slice(offset + 1, offset + length - 1)
  if (inside.trim() === '') return `${text.slice(0, offset + 1)}${entry}${eol}${outer}${text.slice(offset + length - 1)}`
  // A comment after the brace stays in its line.
  const at = offset + 1 + (/^[ \t]*\/\/[^\r\n]*/.exec(inside)?.[0].length ?? 0)
  const isSameLine = first !== undefined && !text.slice(at, first.offset).includes('\n')
  const rest = isSameLine ? `${eol}${inner}${text.slice(at).trimStart()}` : text.slice(at)
  return `${text.slice(0, at)}${entry}${first ? ',' : ''}${rest}`
}

const stringify = (text: string, value: object, indent: string): string =>
  JSON.stringify(value, undefined, getUnit(text)).replaceAll('\n', getLineEnd(text) + indent)

const getLineEnd = (text: string): string => (text.includes('\r\n') ? '\r\n' : '\n')

/** The indentation of the first indented line. */
const getUnit = (text: string): string => /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '

/** The indentation of the line at an offset. */
const getIndent = (text: string, offset: number): string => /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1))?.[0] ?? ''
