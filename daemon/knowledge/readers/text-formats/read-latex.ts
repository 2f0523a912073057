/** Reads LaTeX: sections, lists, tables and formulas as Markdown; commands are replaced by their text. */
import type { ParsedDocument } from '../parsed-document.ts'

const LEVELS: Record<string, number> = { part: 1, chapter: 1, section: 2, subsection: 3, subsubsection: 4, paragraph: 5 }
const CODE_START = /\\begin\{(verbatim|lstlisting|minted|Verbatim)\*?\}/
/** Commands whose argument is not text. */
const HIDDEN_COMMANDS =
  'usepackage|documentclass|bibliographystyle|bibliography|includegraphics|vspace|hspace|setlength|input|include|pagestyle|' +
  'thispagestyle|newcommand|renewcommand|DeclareMathOperator|setcounter|addtocounter|hypersetup|graphicspath|geometry|color|index'
const HIDDEN_COMMAND = new RegExp(`\\\\(?:${HIDDEN_COMMANDS})\\*?(?:\\[[^\\]]{0,200}\\])?(?:\\{[^{}]*\\}){0,3}`, 'g')
const SYMBOLS: Record<string, string> = {
  ldots: '…',
  dots: '…',
  textendash: '–',
  textemdash: '—',
  euro: '€',
  texteuro: '€',
  pounds: '£',
  copyright: '©',
  LaTeX: 'LaTeX',
  TeX: 'TeX',
  ss: 'ß',
  o: 'ø',
  O: 'Ø',
  ae: 'æ',
  aa: 'å',
  S: '§',
}
const ACCENTS: Record<string, string> = {
  '"': '\u0308',
  "'": '\u0301',
  '`': '\u0300',
  '^': '\u0302',
  '~': '\u0303',
  c: '\u0327',
  v: '\u030c',
}

export function readLatex(source: string): ParsedDocument {
  const title = findArgument(source, 'title')
  const start = source.indexOf('\\begin{document}')
  const end = source.indexOf('\\end{document}')
  const body = source.slice(start < 0 ? 0 : start + '\\begin{document}'.length, end < 0 ? undefined : end)
  const author = findArgument(source, 'author')
  const output = [...(title === null ? [] : [`# ${title}`, '']), ...(author === null ? [] : [author, ''])]
  let code: string | undefined
  for (const line of body.split('\n')) {
    if (code !== undefined) {
      const isEnd = line.includes(`\\end{${code}}`)
      output.push(isEnd ? '```' : line)
      if (isEnd) code = undefined
      continue
    }
    code = CODE_START.exec(line)?.[1]
    output.push(code === undefined ? convertLine(removeComment(line)) : '```')
  }
  if (code !== undefined) output.push('```')
  return {
    text: output
      .join('\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim(),
    format: 'markdown',
    pages: [],
    title,
  }
}

function findArgument(source: string, command: string): string | null {
  const [, text] =
    new RegExp(`\\\\${command}(?:\\[[^\\]]{0,200}\\])?\\{((?:[^{}]|\\{[^{}]{0,300}\\}){1,500})\\}`).exec(source.slice(0, 50_000)) ?? []
  return text === undefined ? null : convertText(text).replaceAll(/\s+/g, ' ').trim().slice(0, 300) || null
}

function removeComment(line: string): string {
  for (let index = line.indexOf('%'); index >= 0; index = line.indexOf('%', index + 1))
    if (line[index - 1] !== '\\') return line.slice(0, index)
  return line
}

function convertLine(source: string): string {
  const line = source.replaceAll(/\\label\{[^{}]*\}/g, '')
  const section = /^\s*\\(part|chapter|(?:sub){0,2}section|paragraph)\*?(?:\[[^\]]*\])?\{(.*)\}\s*(.*)$/.exec(line)
  if (section) {
    const [, name = '', heading = '', rest = ''] = section
    return `\n${'#'.repeat(LEVELS[name] ?? 2)} ${convertText(heading).trim()}\n${rest === '' ? '' : `\n${convertText(rest)}`}`
  }
  const item = /^\s*\\item\s*(?:\[([^\]]*)\])?\s*(.*)$/.exec(line)
  if (item) return `- ${item[1] ? `${convertText(item[1])}: ` : ''}${convertText(item[2] ?? '')}`
  const text = convertText(line)
  // A row of a table
  return /(?:^|[^\\])&/.test(line) ? `| ${text.replaceAll(/\s*(?<!\\)&\s*/g, ' | ').trim()} |` : text
}

function convertText(line: string): string {
  const text = line
    .replaceAll(/\\(?:begin|end)\{[^{}]*\}(?:\[[^\]]{0,200}\])?(?:\{[^{}]*\})?/g, '')
    .replaceAll(HIDDEN_COMMAND, '')
    .replaceAll(/\\href\{([^{}]*)\}\{([^{}]*)\}/g, '$2 ($1)')
    .replaceAll(/\\(?:cite|citep|citet|ref|eqref|autoref|cref)(?:\[[^\]]{0,200}\])?\{([^{}]*)\}/g, '[$1]')
    .replaceAll(/\\footnote\{([^{}]*)\}/g, ' ($1)')
    .replaceAll(/\\(["'`^~cv])\{?([A-Za-z])\}?/g, (all, accent: string, letter: string) =>
      /[cv]/.test(accent) && !all.includes('{') ? all : (letter + (ACCENTS[accent] ?? '')).normalize('NFC'),
    )
  // Formulas are kept as they are.
  const parts = text.split(/((?<!\\)\$[^$]*\$)/)
  return parts
    .map((part, index) => (index % 2 === 0 ? replaceCommands(part) : part))
    .join('')
    .replaceAll(/\\([ %&$#_{}])/g, '$1')
    .replaceAll('~', ' ')
    .replaceAll('``', '“')
    .replaceAll("''", '”')
    .replaceAll('---', '—')
    .replaceAll('--', '–')
}

/** Replaces commands by their argument. */
function replaceCommands(line: string): string {
  return line
    .replaceAll(/\\\\(?:\[[^\]]{0,200}\])?/g, '')
    .replaceAll(/\\([A-Za-z]+)\*?(?:\[[^\]]{0,200}\])?(?![A-Za-z])[ ]?/g, (_, name: string) => SYMBOLS[name] ?? '')
    .replaceAll(/(?<!\\)[{}]/g, '')
}
