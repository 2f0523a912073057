/** Reads contacts (vCard): each person is a section. */
import { joinTexts, type ParsedDocument } from '../parsed-document.ts'
import { decodeValue, getParameter, readContentLines, splitValue } from './content-lines.ts'

const LABELS: Record<string, string> = {
  NICKNAME: 'Nickname',
  ORG: 'Organization',
  TITLE: 'Title',
  ROLE: 'Role',
  EMAIL: 'Email',
  TEL: 'Phone',
  ADR: 'Address',
  BDAY: 'Birthday',
  ANNIVERSARY: 'Anniversary',
  URL: 'Website',
  CATEGORIES: 'Categories',
  NOTE: 'Note',
}
const STRUCTURED = new Set(['ORG', 'ADR'])
const MAX_LINES = 200

export function readContacts(source: string): ParsedDocument | undefined {
  const sections: string[] = []
  let contact: { name: string; lines: string[] } | undefined
  for (const { name, parameters, value } of readContentLines(source)) {
    if (name === 'BEGIN') contact = { name: '', lines: [] }
    else if (!contact) continue
    else if (name === 'END') {
      sections.push(joinTexts([`## ${contact.name || '(no name)'}`, contact.lines.join('\n')], '\n\n'))
      contact = undefined
    } else if (name === 'FN') contact.name = decodeValue(value).replaceAll(/\s+/g, ' ')
    else if (name === 'N') contact.name ||= formatName(value)
    else if (LABELS[name] !== undefined && contact.lines.length < MAX_LINES) {
      const text = formatValue(name, value)
      if (text !== '') contact.lines.push(`${LABELS[name]}${formatKind(parameters)}: ${text}`)
    }
  }
  if (sections.length === 0) return undefined
  return { text: sections.join('\n\n'), format: 'markdown', pages: [], title: null }
}

/** Family name; given name; additional names; prefix; suffix. */
function formatName(value: string): string {
  const [family = '', given = '', additional = '', prefix = '', suffix = ''] = splitValue(value)
  return joinTexts([prefix, given, additional, family, suffix], ' ')
}

function formatValue(name: string, value: string): string {
  if (STRUCTURED.has(name)) return joinTexts(splitValue(value), ', ').replaceAll('\n', ', ')
  const text = decodeValue(value).replace(/^(?:tel|mailto):/i, '')
  return name === 'BDAY' ? text.replace(/^(\d{4})(\d\d)(\d\d)$/, '$1-$2-$3') : text
}

/** Returns ` (work)`. Older versions write the kind without TYPE=. */
function formatKind(parameters: string): string {
  const kinds = (getParameter(parameters, 'TYPE') ?? parameters).toLowerCase().match(/\b(?:home|work|cell|mobile|fax)\b/g)
  return kinds ? ` (${[...new Set(kinds)].join(', ')})` : ''
}
