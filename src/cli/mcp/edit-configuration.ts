/** Changes one property in a JSON file of another program, and keeps comments, order and formatting. */
import { applyEdits, modify, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser/lib/esm/main.js'
import { UsageError } from '../terminal/errors.ts'

const BYTE_ORDER_MARK = '\uFEFF'

/** Returns the changed text. Throws if the file is damaged: other settings could be lost. */
export function editConfiguration(file: string, text: string, path: readonly string[], value: object): string {
  const mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : ''
  const content = text.slice(mark.length)
  const body = content.trim() === '' ? '{}\n' : content
  requireObject(file, body, path.slice(0, -1))
  const edits = modify(body, [...path], value, { formattingOptions: detectFormatting(body) })
  return mark + applyEdits(body, edits)
}

/** The file, and each property on the path that exists, must be an object. */
function requireObject(file: string, text: string, path: readonly string[]): void {
  const errors: ParseError[] = []
  let node = parseTree(text, errors, { allowTrailingComma: true })
  const [error] = errors
  if (error || !node) {
    const line = text.slice(0, error?.offset ?? 0).split('\n').length
    const problem = error ? `: ${printParseErrorCode(error.error)} in line ${line}` : ''
    throw new UsageError(
      `${file} is not valid JSON${problem}. It was not changed.`,
      'Repair the file, or print the entry with: cadre mcp config',
    )
  }
  for (const name of ['', ...path]) {
    if (name !== '') node = node?.children?.find(({ children }) => children?.[0]?.value === name)?.children?.[1]
    if (node === undefined) return
    if (node.type !== 'object') {
      const what = name === '' ? 'an object' : `an object in "${name}"`
      throw new UsageError(
        `${file} does not contain ${what}. It was not changed.`,
        'Repair the file, or print the entry with: cadre mcp config',
      )
    }
  }
}

/** Uses the indentation of the first indented line. */
function detectFormatting(text: string) {
  const [, indent = '  '] = /^([ \t]+)\S/m.exec(text) ?? []
  const insertSpaces = !indent.startsWith('\t')
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 4, eol: text.includes('\r\n') ? '\r\n' : '\n' }
}
