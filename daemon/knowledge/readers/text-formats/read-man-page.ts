/** Reads man pages (roff with the macros man or mdoc) as Markdown. */
import type { ParsedDocument } from '../parsed-document.ts'

const CHARACTERS: Record<string, string> = {
  em: '—',
  en: '–',
  hy: '-',
  mi: '-',
  bu: '•',
  lq: '“',
  rq: '”',
  oq: '‘',
  cq: '’',
  aq: "'",
  dq: '"',
  co: '©',
  rg: '®',
  tm: '™',
  ti: '~',
  ha: '^',
  rs: '\\',
  ga: '`',
  '->': '→',
  '<=': '≤',
  '>=': '≥',
}
/** Macros whose arguments are text, also if they only change its font. */
const TEXT_MACROS = new Set(
  'B I R BI BR IB IR RB RI SM SB Nm Ar Cm Pa Va Fa Fn Ft Ev Dv Er Em Sy Li Xr Ql Nd An Mt Lk Ic In Vt Tn Cd'.split(' '),
)
/** Their arguments are joined without spaces, because only the font alternates. */
const JOINED_MACROS = new Set(['BI', 'BR', 'IB', 'IR', 'RB', 'RI'])
const QUOTE_MARKS: Record<string, [string, string]> = {
  Dq: ['“', '”'],
  Sq: ['‘', '’'],
  Pq: ['(', ')'],
  Op: ['[', ']'],
  Bq: ['[', ']'],
  Aq: ['<', '>'],
  OP: ['[', ']'],
}
const PARAGRAPH_MACROS = new Set(['PP', 'P', 'LP', 'Pp', 'HP', 'sp', 'br', 'Bl', 'El', 'RS', 'RE'])

export function readManPage(source: string): ParsedDocument | undefined {
  const lines = source.split('\n')
  if (!lines.slice(0, 500).some((line) => /^[.'][ \t]*(?:TH|SH|Dd|Dt|Sh)\b/.test(line))) return undefined
  return new ManPageReader().read(lines)
}

class ManPageReader {
  readonly #output: string[] = []
  #paragraph: string[] = []
  #title: string | null = null
  #name = ''
  #isCode = false
  #isTerm = false

  read(lines: readonly string[]): ParsedDocument {
    for (const line of removeDefinitions(lines)) {
      if (/^[.']/.test(line)) this.#readMacro(line)
      else if (this.#isCode) this.#output.push(replaceEscapes(line))
      else if (line.trim() === '') this.#endParagraph()
      else this.#addText(replaceEscapes(line))
    }
    this.#endCode()
    this.#endParagraph()
    const text = this.#output
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim()
    return { text, format: 'markdown', pages: [], title: this.#title }
  }

  #readMacro(line: string): void {
    const [, macro = '', rest = ''] = /^[.'][ \t]*([^\s\\]*)[ \t]*(.*)$/.exec(line) ?? []
    const words = splitWords(rest)
    if (macro === 'TH' || macro === 'Dt') this.#setTitle(words)
    else if (macro === 'SH' || macro === 'Sh') this.#writeHeading(2, words)
    else if (macro === 'SS' || macro === 'Ss') this.#writeHeading(3, words)
    else if (['nf', 'EX', 'Bd', 'DS', 'Vb'].includes(macro)) this.#startCode()
    else if (['fi', 'EE', 'Ed', 'DE', 'Ve'].includes(macro)) this.#endCode()
    else if (macro === 'TP' || macro === 'TQ') this.#startTerm()
    else if (macro === 'IP') this.#writeItem(words.slice(0, 1))
    else if (macro === 'It') this.#writeItem([formatInline(words)])
    else if (PARAGRAPH_MACROS.has(macro)) this.#endParagraph()
    else if (macro === 'Nm') this.#writeName(words)
    else if (macro === 'UR' || macro === 'MT') this.#addText(words.join(' '))
    else if (TEXT_MACROS.has(macro) || macro === 'Fl' || macro in QUOTE_MARKS)
      this.#addText(JOINED_MACROS.has(macro) ? words.join('') : formatInline([macro, ...words]))
  }

  #setTitle(words: string[]): void {
    const [name = '', section = ''] = words
    if (name === '' || this.#title !== null) return
    this.#title = section === '' ? name : `${name}(${section})`
    this.#output.push(`# ${this.#title}`)
  }

  #writeHeading(level: number, words: string[]): void {
    this.#endCode()
    this.#endParagraph()
    if (words.length > 0) this.#output.push('', `${'#'.repeat(level)} ${words.join(' ')}`, '')
  }

  /** In mdoc, the first name is the one of the page. */
  #writeName(words: string[]): void {
    if (this.#name === '') this.#name = words[0] ?? ''
    this.#addText(formatInline(words.length === 0 ? [this.#name] : words))
  }

  /** The next line is the term, for example an option. */
  #startTerm(): void {
    this.#endParagraph()
    this.#isTerm = true
  }

  #writeItem(words: string[]): void {
    this.#endParagraph()
    const term = words.join(' ').trim()
    if (/^[•*-]?$/.test(term)) this.#paragraph.push('-')
    else this.#writeTerm(term)
  }

  #writeTerm(term: string): void {
    this.#output.push(`- ${term}:`)
    this.#isTerm = false
  }

  #addText(text: string): void {
    if (this.#isCode) this.#output.push(text)
    else if (text.trim() === '') return
    else if (this.#isTerm) this.#writeTerm(text.trim())
    else this.#paragraph.push(text.trim())
  }

  #endParagraph(): void {
    if (this.#paragraph.length > 0) this.#output.push(this.#paragraph.join(' '), '')
    this.#paragraph = []
    this.#isTerm = false
  }

  #startCode(): void {
    this.#endParagraph()
    if (!this.#isCode) this.#output.push('```')
    this.#isCode = true
  }

  #endCode(): void {
    if (this.#isCode) this.#output.push('```', '')
    this.#isCode = false
  }
}

/** Definitions of macros and conditions are not text. */
function* removeDefinitions(lines: readonly string[]): Generator<string> {
  let isDefinition = false
  let depth = 0
  for (const line of lines) {
    if (isDefinition) isDefinition = !/^\.\.\s*$/.test(line)
    else if (/^[.'][ \t]*(?:de1?|am|ig)\b/.test(line)) isDefinition = true
    else if (depth > 0 || /^(?:[.'][ \t]*(?:if|ie|el|while)\b|\\\{)/.test(line))
      depth = Math.max(0, depth + count(line, '\\{') - count(line, '\\}'))
    else yield line
  }
}

const count = (line: string, mark: string): number => line.split(mark).length - 1

/** Arguments in quotes may have spaces. */
function splitWords(text: string): string[] {
  return Array.from(text.matchAll(/"((?:[^"]|"")*)"|(\S+)/g), ([, quoted, plain]) =>
    replaceEscapes(quoted?.replaceAll('""', '"') ?? plain ?? ''),
  )
}

/** mdoc has macros in the arguments of others: `Op Fl v Ar file` is [-v file]. */
function formatInline(words: readonly string[]): string {
  const output: string[] = []
  const closing: string[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] as string
    const marks = QUOTE_MARKS[word]
    if (word === 'Fl') output.push(`-${/^[A-Z][a-z]$/.test(words[index + 1] ?? 'Ar') ? '' : words[++index]}`)
    else if (marks) {
      output.push(marks[0])
      closing.unshift(marks[1])
    } else if (!TEXT_MACROS.has(word)) output.push(word)
  }
  return [...output, ...closing]
    .join(' ')
    .replaceAll(/([[(<“‘]) /g, '$1')
    .replaceAll(/ ([\])>”’,.;:])/g, '$1')
}

function replaceEscapes(text: string): string {
  if (!text.includes('\\')) return text
  return text
    .replaceAll(/\\".*$/gm, '')
    .replaceAll(/\\(?:f(?:\[[^\]]{0,20}\]|\(..|.)|s[-+]?\d{1,2}|[&|^/,:%)!]|[zc])/g, '')
    .replaceAll(
      /\\\[([^\]]{1,20})\]|\\\((..)|\\\*\((..)|\\\*(.)/g,
      (_, long?: string, short?: string, string?: string) => CHARACTERS[long ?? short ?? string ?? ''] ?? '',
    )
    .replaceAll(/\\([-. ~0'`e])/g, (_, mark: string) => (mark === 'e' ? '\\' : mark === '~' || mark === '0' ? ' ' : mark))
    .replaceAll('\\\\', '\\')
}
