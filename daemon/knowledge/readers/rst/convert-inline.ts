/** Converts the markup within paragraphs of reStructuredText to Markdown: code, roles, links, references and escapes. */

/** What the text of a document refers to by name. */
export interface RstNames {
  replacements: Map<string, string>
  /** Titles of sections by their labels. */
  titles: Map<string, string>
}

/** Their text is code as it is. */
const LITERAL_ROLES = new Set('code literal file samp kbd command program option envvar math regexp mailheader makevar'.split(' '))
/** Their text may have a target, and marks how much of a name is shown. */
const OBJECT_ROLES = new Set(
  [
    'func function meth method class attr attribute mod module data const constant exc exception obj type var member macro struct',
    'enum confval setting',
  ].flatMap((names) => names.split(' ')),
)
/** Up to the next backtick; bounded, so that many backticks cost linear time. */
const TEXT = '(?:[^`\\\\]|\\\\[^]){1,500}'
/** After inline markup, a backslash ends it within a word. */
const END = '(?:\\\\(?: |(?=\\w)))?'
const MARKUP = new RegExp(
  [
    `(?<!\`)\`\`(?!\`)(?<literal>(?:[^\`]|\`(?!\`)){1,1000})\`\`(?!\`)${END}`,
    `:(?<role>[a-z][\\w.+:-]{0,40}):\`(?<text>${TEXT})\`${END}`,
    `(?<![\`\\w])\`(?![\`\\s])(?<phrase>${TEXT})(?<!\\s)\`(?!\`)(?<mark>__?(?!\\w))?${END}`,
    '(?<url>https?:\\/\\/[^\\s<>`]{1,2000})',
    '(?<note>\\[[\\w#*.-]{1,60}\\])_(?!\\w)',
    '\\|(?<name>[^|\\s][^|\\n]{0,60})\\|_{0,2}',
    '(?<![^\\s\'"([{<:-])(?<word>[a-zA-Z](?:\\w|[-.+:](?=[a-zA-Z])){0,60}?)__?(?=[\\s.,:;!?\'")\\]}>]|$)',
    '(?<tag><\\/?[a-zA-Z][^<>`\\n:@]{0,100}>)',
    '\\\\(?<escaped>[^a-zA-Z0-9])',
  ].join('|'),
  'g',
)

/** @param text lines of a paragraph; constructs within it may have several lines */
export function convertInline(text: string, names: RstNames): string {
  return text.replaceAll(MARKUP, (...match) => convertMatch(match[0] as string, match.at(-1) as Record<string, string | undefined>, names))
}

function convertMatch(source: string, groups: Record<string, string | undefined>, { replacements, titles }: RstNames): string {
  const { literal, role, text = '', phrase, mark, url, note, name, word, tag, escaped = '' } = groups
  if (literal !== undefined) return formatCode(literal)
  if (role !== undefined) return convertRole(role.slice(role.lastIndexOf(':') + 1), text, titles)
  if (phrase !== undefined) return mark === undefined ? formatCode(phrase.replaceAll(/\\([^a-zA-Z0-9])/g, '$1')) : convertLink(phrase)
  if (tag !== undefined) return formatCode(tag) // In Markdown, it is HTML.
  if (name !== undefined) return replacements.get(name) ?? source
  if (url !== undefined || note !== undefined || word !== undefined) return url ?? note ?? (word as string)
  if (/\s/.test(escaped)) return escaped === '\n' ? escaped : ''
  return /[\\`*_{}[\]()#+.!|-]/.test(escaped) ? source : escaped
}

export const formatCode = (code: string): string => {
  const line = code.replaceAll(/\s+/g, ' ').trim()
  return line.includes('`') ? `\`\` ${line} \`\`` : `\`${line}\``
}

function convertRole(role: string, text: string, titles: RstNames['titles']): string {
  if (LITERAL_ROLES.has(role)) return formatCode(text)
  const { label, target } = splitTarget(text)
  if (OBJECT_ROLES.has(role)) return formatCode((label || text).replace(/^[~!]/, ''))
  // Such as :pep:`8` and :issue:`533`
  if (/^\d+$/.test(text)) return `${role.length <= 3 ? role.toUpperCase() : role} ${text}`
  return (target === undefined ? titles.get(normalizeName(text)) : undefined) ?? label.replace(/^[~!]/, '')
}

function convertLink(text: string): string {
  const { label, target } = splitTarget(text)
  if (target === undefined || target.endsWith('_')) return label
  const url = target.replaceAll(/\s+/g, '')
  if (label === '') return url
  return /[[\]]/.test(label) ? `${label} (${url})` : `[${label}](${url.replaceAll('(', '%28').replaceAll(')', '%29')})`
}

/** Splits `text <target>`. */
function splitTarget(text: string): { label: string; target?: string } {
  const at = text.endsWith('>') ? text.lastIndexOf('<') : -1
  const label = (at < 0 ? text : text.slice(0, at)).replaceAll(/\s+/g, ' ').trim()
  return at < 0 ? { label } : { label, target: text.slice(at + 1, -1) }
}

export const normalizeName = (name: string): string => name.trim().replaceAll(/\s+/g, ' ').toLowerCase()
