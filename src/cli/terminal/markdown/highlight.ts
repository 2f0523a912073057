/** Highlights keywords, strings, comments and numbers line by line, with state across lines, so that streamed code is highlighted once. */
import type { Line, Style, StyledSpan } from './styled-text.ts'

interface Language {
  keywords: ReadonlySet<string>
  /** Markers of comments that end with the line. */
  lineComments: readonly string[]
  blockComment?: readonly [string, string]
  /** Quotes of strings that end with the line. */
  quotes: string
  /** Quotes of strings that may span lines. */
  longQuotes: readonly string[]
  ignoresCase?: boolean
}

const createSet = (words: string) => new Set(words.split(/\s+/))
const C_LIKE = { lineComments: ['//'], blockComment: ['/*', '*/'] as const, quotes: '"\'', longQuotes: [] as string[] }

const HASH_COMMENTS = { lineComments: ['#'], quotes: '"\'', longQuotes: [] as string[] }

const FAMILIES = {
  javascript: {
    ...C_LIKE,
    longQuotes: ['`'],
    keywords: createSet(
      `abstract any as async await boolean break case catch class const constructor continue debugger
      declare default delete do else enum export extends false finally for from function get if implements
      import in infer instanceof interface is keyof let namespace never new null number object of private
      protected public readonly return satisfies set static string super switch symbol this throw true try
      type typeof undefined unknown var void while with yield`,
    ),
  },
  python: {
    ...HASH_COMMENTS,
    longQuotes: ['"""', "'''"],
    keywords: createSet(
      `False None True and as assert async await break case class continue def del elif else except finally
      for from global if import in is lambda match nonlocal not or pass raise return self try while with
      yield`,
    ),
  },
  c: {
    ...C_LIKE,
    keywords: createSet(
      `abstract alignas auto base bool boolean break byte case catch char class concept const constexpr
      continue decimal default delete do double dynamic else enum event explicit export extends extern
      false final finally float for foreach friend fun goto guard if implements import in inline
      instanceof int interface internal is lateinit let lock long mutable namespace native new nil null
      nullptr object open operator override package private protected public readonly record ref register
      return sealed short signed sizeof static strictfp string struct super suspend switch synchronized
      template this throw throws transient true try typedef typename uint union unsigned using val var
      virtual void volatile when where while yield`,
    ),
  },
  go: {
    ...C_LIKE,
    longQuotes: ['`'],
    keywords: createSet(
      `any bool break byte case chan const continue default defer else error fallthrough false float64 for
      func go goto if import int int64 interface iota map nil package range return rune select string
      struct switch true type uint var`,
    ),
  },
  rust: {
    ...C_LIKE,
    quotes: '"',
    keywords: createSet(
      `as async await bool box break char const continue crate dyn else enum extern f64 false fn for i32
      i64 if impl in let loop match mod move mut pub ref return Self self static str String struct super
      trait true type u32 u64 u8 unsafe use usize where while`,
    ),
  },
  shell: {
    ...HASH_COMMENTS,
    keywords: createSet(
      `alias break case cd continue declare do done echo elif else esac eval exec exit export fi for
      function if in local printf read readonly return select set shift source sudo then time trap unset
      until while`,
    ),
  },
  ruby: {
    ...HASH_COMMENTS,
    keywords: createSet(
      `alias and begin break case class def defined do else elsif end ensure false for if in include module
      next nil not or private protected public raise redo require rescue retry return self super then true
      undef unless until when while yield`,
    ),
  },
  sql: {
    ...C_LIKE,
    lineComments: ['--'],
    ignoresCase: true,
    keywords: createSet(
      `add all alter and as asc avg begin between by case check commit constraint count create cross
      database default delete desc distinct drop else end except exists false foreign from full group
      having if in index inner insert intersect into is join key left like limit max min not null offset
      on or order outer primary references returning right rollback select set sum table then transaction
      true union unique update values view when where with`,
    ),
  },
  data: { ...HASH_COMMENTS, keywords: createSet('true false null yes no on off') },
  json: { ...C_LIKE, quotes: '"', keywords: createSet('true false null') },
  css: { ...C_LIKE, lineComments: [], keywords: createSet('important inherit initial none auto') },
  markup: { lineComments: [], blockComment: ['<!--', '-->'] as const, quotes: '"\'', longQuotes: [], keywords: new Set<string>() },
} satisfies Record<string, Language>

const FAMILIES_BY_NAME: Record<string, keyof typeof FAMILIES> = {
  ...mapNames('javascript', 'js jsx mjs cjs ts tsx mts typescript javascript vue svelte'),
  ...mapNames('python', 'py python python3 pyi'),
  ...mapNames('c', 'c h cc cpp c++ cxx hpp cs csharp java kotlin kt kts swift scala dart php objc groovy proto'),
  ...mapNames('go', 'go golang'),
  ...mapNames('rust', 'rs rust'),
  ...mapNames('shell', 'sh bash zsh shell fish console shellsession dockerfile docker make makefile powershell ps1'),
  ...mapNames('ruby', 'rb ruby perl pl elixir ex exs crystal lua r julia'),
  ...mapNames('sql', 'sql postgres postgresql mysql sqlite'),
  ...mapNames('data', 'yaml yml toml ini conf cfg properties env hcl terraform tf'),
  ...mapNames('json', 'json jsonc json5 jsonl ndjson'),
  ...mapNames('css', 'css scss less sass'),
  ...mapNames('markup', 'html xml svg xhtml htm'),
}

function mapNames(family: keyof typeof FAMILIES, names: string): Record<string, keyof typeof FAMILIES> {
  return Object.fromEntries(names.split(' ').map((name) => [name, family]))
}

/** A comment or string that continues on the next line. */
export interface OpenToken {
  close: string
  style: Style
}

const WORD = '[\\p{L}_$@][\\p{L}\\p{N}_$-]*'
const NUMBER = '0[xXbBoO][\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:[eE][+-]?\\d+)?'
/** Matches comments, openers of tokens that may span lines, strings, words and numbers. */
function createPattern({ lineComments, blockComment, longQuotes, quotes }: Language): RegExp {
  // A # inside a word does not start a comment.
  const comments = lineComments.map((marker) => `${marker === '#' ? '(?<!\\S)#' : marker}.*`)
  const openers = [...(blockComment?.slice(0, 1) ?? []), ...longQuotes].map((marker) => marker.replace('*', '\\*'))
  const strings = [...quotes].map((quote) => `${quote}(?:\\\\.|[^${quote}\\\\])*\\\\?${quote}?`)
  const groups = Object.entries({ comment: comments, opener: openers, string: strings, word: [WORD], number: [NUMBER] })
  const alternatives = groups.filter(([, choices]) => choices.length > 0).map(([name, choices]) => `(?<${name}>${choices.join('|')})`)
  return new RegExp(alternatives.join('|'), 'gsu')
}

const PATTERNS = Object.fromEntries(Object.entries<Language>(FAMILIES).map(([family, language]) => [family, createPattern(language)]))

/** Highlights one line of sanitized text. Unknown languages are not highlighted. */
export function highlight(text: string, name: string, open?: OpenToken): { spans: Line; open: OpenToken | undefined } {
  const family = FAMILIES_BY_NAME[name.toLowerCase()]
  if (family === undefined) return { spans: highlightDiff(text, name), open: undefined }
  const language: Language = FAMILIES[family]
  const pattern = PATTERNS[family] as RegExp
  const spans: StyledSpan[] = []
  let start = 0 // of the text that is not emitted yet
  let index = 0
  const emit = (end: number, ...styles: Style[]) => {
    if (end > start) spans.push({ text: text.slice(start, end), styles })
    start = end
    index = end
  }
  let openToken = open
  while (index < text.length) {
    if (openToken) {
      const end = findEnd(text, index, openToken.close)
      emit(end ?? text.length, openToken.style)
      if (end === undefined) break
      openToken = undefined
    }
    pattern.lastIndex = index
    const match = pattern.exec(text)
    if (!match) break
    const { comment, opener, string, word } = match.groups as Record<string, string | undefined>
    index = match.index + match[0].length
    if (word !== undefined && !language.keywords.has(language.ignoresCase ? word.toLowerCase() : word)) continue
    emit(match.index)
    const style = comment !== undefined ? 'dim' : string !== undefined ? 'green' : word !== undefined ? 'magenta' : 'yellow'
    if (opener === undefined) emit(match.index + match[0].length, style)
    else {
      index = match.index + opener.length
      openToken =
        opener === language.blockComment?.[0] ? { close: language.blockComment[1], style: 'dim' } : { close: opener, style: 'green' }
    }
  }
  emit(text.length, ...(openToken ? [openToken.style] : []))
  return { spans, open: openToken }
}

/** Returns the offset after the closing marker; a backslash escapes a quote. */
function findEnd(text: string, from: number, close: string): number | undefined {
  for (let index = from; index < text.length; index++) {
    if (text[index] === '\\' && close.length === 1) index++
    else if (text.startsWith(close, index)) return index + close.length
  }
  return undefined
}

const DIFF_STYLES: Record<string, Style> = { '+': 'green', '-': 'red', '@': 'cyan' }

function highlightDiff(text: string, name: string): Line {
  const style = /^(diff|patch)$/i.test(name) && !/^@(?!@)/.test(text) ? DIFF_STYLES[text[0] ?? ''] : undefined
  return text === '' ? [] : [{ text, styles: style ? [style] : [] }]
}
