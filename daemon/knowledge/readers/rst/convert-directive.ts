/** Converts the directives of reStructuredText and Sphinx to Markdown. */
import { isItem, parseFence } from '../../../language/parse-markdown.ts'
import { formatCode } from './convert-inline.ts'
import { parseCsvTable, parseListTable } from './convert-table.ts'
import { formatFence, splitOptions } from './rst-lines.ts'

interface Directive {
  /** In lower case, with the domain. */
  name: string
  argument: string
  body: readonly string[]
}

interface BodyConverter {
  /** @param level of the heading above the lines; undefined if they may not have headings of their own. */
  convertBody(lines: readonly string[], level?: number): string[]
  formatTable(rows: readonly string[][]): string[]
}

/** Code whose language is its argument. */
const CODE = new Set('code code-block sourcecode code-tab prompt parsed-literal'.split(' '))
/** Code of one language. */
const LANGUAGES: Record<string, string> = {
  doctest: 'python',
  testcode: 'python',
  testsetup: 'python',
  testoutput: 'text',
  ipython: 'python',
  math: 'latex',
  graphviz: 'dot',
  digraph: 'dot',
  mermaid: 'mermaid',
  uml: 'plantuml',
  productionlist: 'bnf',
}
const ADMONITIONS = new Set('note warning tip hint important caution attention danger error seealso todo'.split(' '))
const VERSIONS: Record<string, string> = {
  versionadded: 'New in version',
  versionchanged: 'Changed in version',
  deprecated: 'Deprecated since version',
  versionremoved: 'Removed in version',
}
/** They show nothing, or what is not in the document. */
const HIDDEN = new Set(
  [
    'toctree contents index include literalinclude meta highlight image raw sectnum section-numbering header footer title role',
    'default-role default-domain currentmodule namespace namespace-push namespace-pop tabularcolumns sectionauthor codeauthor',
    'moduleauthor date unicode target-notes bibliography testcleanup',
  ].flatMap((names) => names.split(' ')),
)
/** What they describe is their argument. */
const OBJECTS = new Set(
  [
    'function method class classmethod staticmethod attribute property data exception decorator decoratormethod module type typealias',
    'macro var variable member struct union enum enumerator option cmdoption envvar confval setting program object describe directive',
    'autofunction automethod autoclass autoattribute autodata autoexception automodule autodecorator',
  ].flatMap((names) => names.split(' ')),
)
/** Options of a command are list items in Markdown too. */
const OPTIONS = new Set(['option', 'cmdoption'])
const MAX_HEADING_LEVEL = 6
/** A longer signature would be repeated with each passage of its description. */
const MAX_HEADING_LENGTH = 100
/** Their argument says how the body is shown, or where. */
const WITHOUT_TITLE = new Set('only ifconfig container figure grid grid-item tab-set tabs glossary hlist rst-class cssclass'.split(' '))
/** Options of descriptions that are for the program that shows them. */
const HIDDEN_OPTIONS = new Set('noindex no-index no-index-entry no-contents-entry nocontentsentry noindexentry module canonical'.split(' '))

/** @param level of the heading above; undefined if a description may not be a section. */
export function convertDirective(directive: Directive, converter: BodyConverter, level?: number): string[] {
  const { name, argument, body } = directive
  const kind = name.slice(name.lastIndexOf(':') + 1)
  const { options, rest } = splitOptions(body)
  if (HIDDEN.has(kind)) return []
  if (CODE.has(kind) || Object.hasOwn(LANGUAGES, kind)) return convertCode(kind, argument, options, rest)
  if (OBJECTS.has(kind)) return convertDescription(argument, body, converter, OPTIONS.has(kind) ? undefined : level)
  if (Object.hasOwn(VERSIONS, kind)) {
    const [version = ''] = argument.split(' ', 1)
    return addLabel(`${VERSIONS[kind]} ${version}`, converter.convertBody([argument.slice(version.length).trim(), ...rest]))
  }
  if (ADMONITIONS.has(kind)) return addLabel(formatName(kind), converter.convertBody([argument, ...rest]))
  const rows = kind === 'list-table' ? parseListTable(rest) : kind === 'csv-table' ? parseCsvTable(rest, options) : undefined
  const content = rows ? converter.formatTable(rows) : converter.convertBody(rest)
  return argument === '' || WITHOUT_TITLE.has(kind) ? content : addLabel(converter.convertBody([argument]).join(' '), content)
}

const formatName = (kind: string): string => (kind === 'seealso' ? 'See also' : kind.charAt(0).toUpperCase() + kind.slice(1))

function convertCode(kind: string, argument: string, options: ReadonlyMap<string, string>, lines: readonly string[]): string[] {
  const language = LANGUAGES[kind] ?? /^[\w+#.-]{1,30}/.exec(argument)?.[0] ?? ''
  const code = formatFence(kind === 'math' ? [argument, ...lines] : lines, language.toLowerCase())
  const caption = options.get('caption') ?? ''
  return caption === '' ? code : [`${caption}:`, '', ...code]
}

/** Where a section may begin, the description is one, so that it can be found by what it describes; elsewhere it is a list item. */
function convertDescription(argument: string, body: readonly string[], converter: BodyConverter, level = MAX_HEADING_LEVEL): string[] {
  const end = body.findIndex((line) => line === '' || line.startsWith(':'))
  const signatures = [argument, ...body.slice(0, end < 0 ? body.length : end)]
    .join('\n')
    .replaceAll(/\\\n[ \t]*/g, '')
    .split('\n')
    .filter((line) => line !== '')
    .map((signature) => signature.replaceAll(/\\([*_`|\\])/g, '$1'))
  const { options, rest } = splitOptions(end < 0 ? [] : body.slice(end))
  const fields = [...options]
    .filter(([name, value]) => value !== '' && !HIDDEN_OPTIONS.has(name))
    .map(([name, value]) => `:${name}: ${value}`)
  const lines = [...fields, ...rest]
  const described = signatures.map(formatCode).join(', ')
  if (lines.every((line) => line === '')) return [`- ${described}`]
  if (level < MAX_HEADING_LEVEL) {
    const isLong = described.length > MAX_HEADING_LENGTH
    const title = isLong ? formatCode((signatures[0] ?? '').split('(', 1)[0] as string) : described
    const signature = isLong ? [...formatFence(signatures, ''), ''] : []
    return [`${'#'.repeat(level + 1)} ${title}`, '', ...signature, ...converter.convertBody(lines, level + 1)]
  }
  const content = converter.convertBody(lines)
  const indented = content.map((line) => (line === '' ? '' : `  ${line}`))
  return [`- ${described}:`, ...(isPlain(content[0]) ? [] : ['']), ...indented]
}

/** Puts a label in front of the first paragraph. */
function addLabel(label: string, content: readonly string[]): string[] {
  const start = content.findIndex((line) => line !== '')
  const [first = '', ...rest] = start < 0 ? [] : content.slice(start)
  if (first === '') return [`**${label.trim()}**`]
  const mark = `**${label.replace(/:$/, '')}:**`
  return isPlain(first) ? [`${mark} ${first.trimStart()}`, ...rest] : [mark, '', first, ...rest]
}

/** Whether the line belongs to a paragraph, not to a list, code or a table. */
const isPlain = (line = ''): boolean => !isItem(line) && !parseFence(line) && !/^\s*[#|>]/.test(line)
