/** Formats the tools that an MCP server offers, for review before approval. */
import type { OfferedTool } from '../../../contract/families/mcp/mcp-tools.ts'
import { paint } from '../../terminal/color.ts'
import { diffLines } from '../../terminal/diff-lines.ts'
import { sanitizeLine, sanitizeText } from '../../terminal/text.ts'

type Definition = NonNullable<OfferedTool['offered']>

interface Property {
  type?: unknown
  description?: unknown
}

/** Everything that models will read about the tool is shown. */
export function formatOffer({ tool, state, offered, approved, problem }: OfferedTool): string {
  const name = sanitizeLine(tool)
  if (state === 'unusable') return `${paint('yellow', '!')} ${name} cannot be used: ${sanitizeLine(problem ?? '')}`
  if (state === 'removed') return `${paint('red', '-')} ${name} is no longer offered`
  if (state === 'approved' || offered === null) return `  ${name}`
  const lines = formatDefinition(offered)
  if (state === 'new' || approved === null) return [`${paint('green', '+')} ${paint('bold', name)}`, ...indent(lines)].join('\n')
  const changes = diffLines(formatDefinition(approved).join('\n'), lines.join('\n')).map(({ sign, text }) =>
    sign === ' ' ? `  ${text}` : paint(sign === '+' ? 'green' : 'red', `${sign} ${text}`),
  )
  return [`${paint('yellow', '~')} ${paint('bold', name)} changed since it was approved`, ...indent(changes)].join('\n')
}

function formatDefinition({ description, parameters }: Definition): string[] {
  const text = sanitizeText(description).trim()
  return [...(text === '' ? [] : text.split('\n')), ...formatParameters(parameters)]
}

/** One line per argument; schemas with anything else are shown as JSON, because models read all of it. */
function formatParameters(parameters: Record<string, unknown>): string[] {
  const { type: _, properties = {}, required = [], $schema: __, additionalProperties, ...others } = parameters
  const entries = Object.entries(properties as Record<string, Property>)
  const isSimple = entries.every(([, { type, description, default: ___, ...rest }]: [string, Property & { default?: unknown }]) => {
    return typeof type === 'string' && !['object', 'array'].includes(type) && isText(description) && Object.keys(rest).length === 0
  })
  if (!isSimple || Object.keys(others).length > 0 || typeof additionalProperties === 'object')
    return sanitizeText(JSON.stringify(parameters, null, 2)).split('\n')
  return entries.map(([name, { type, description }]) => {
    const optional = (required as string[]).includes(name) ? '' : ', optional'
    return sanitizeLine(`${name} (${String(type)}${optional})${description === undefined ? '' : `: ${String(description)}`}`)
  })
}

const isText = (value: unknown): boolean => value === undefined || typeof value === 'string'
const indent = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`)
