/** Splits a passage of Markdown or plain text into the parts that an answer can quote, with their positions. */
import { classifyConfigLine, isConfigText } from '../../language/classify-config-line.ts'
import { isCodeName } from '../../language/code-extensions.ts'

export interface Span {
  start: number
  end: number
}

export interface Block extends Span {
  /** A record consists of lines of "column: value"; a setting includes its comment; statements are those of source code. */
  kind: 'heading' | 'text' | 'item' | 'row' | 'record' | 'setting' | 'statement' | 'code'
  /** For code: the info string of its fence. */
  language: string
  /** False for code that the passage contains only in part. */
  isComplete: boolean
  /** For a paragraph of a comment without a setting: those below the whole comment. */
  settings?: Span
}

/** A sentence, or a whole heading, table row, record, setting or block of code. */
export interface Part extends Span {
  block: Block
  blockIndex: number
}

const FENCE = /^\s*(?:```|~~~)\s*(\S*)/
export const isFence = (line: string) => FENCE.test(line)
const HEADING = /^ {0,3}#{1,6}\s/
/** A comment in a configuration file or script: not alone like a heading, but below or above another one. */
const COMMENT = /^[ \t]*#/
const PLAIN_TEXT = /\.(?:txt|text)$/i
const UNDERLINE = /^(?:={3,}|-{3,})\s*(?:\n|$)/
const MAX_HEADING_LENGTH = 70
/** An option in the help of a command: -j/--json. */
const OPTION = /^\s*--?\w[\w-]*(?:[/,|] ?--?\w[\w-]*)*(?:[ =]|$)/
const ITEM = /^\s*(?:[-*+]|\d{1,4}[.)])\s/
const ROW = /^\s*\|/
const FIELD = /^[\p{L}\p{N}_$][^:\n|]{0,79}: \S/u
const MIN_FIELD_SHARE = 0.6
/** Of a comment above a setting; those further up are seldom about it. */
const MAX_PARAGRAPHS = 6
/** Delimiter rows of tables and thematic breaks. */
const RULE = /^[\s|:*_=-]{3,1000}$/

/** Passages can start and end anywhere, even inside code. */
export function parseBlocks(content: string, source = ''): Block[] {
  if (isConfigText(source, content)) return parseSettings(content)
  return isCodeName(source) ? parseCode(content) : parseMarkdown(content, PLAIN_TEXT.test(source))
}

function parseMarkdown(content: string, isPlain: boolean): Block[] {
  const blocks: Block[] = []
  let open: Block | undefined
  const startsInCode = isCutCode(content)
  let isCode = startsInCode
  const openBlock = (kind: Block['kind'], start: number, end: number, language = '') => {
    open = { kind, start, end, language, isComplete: kind !== 'code' }
    blocks.push(open)
  }
  if (isCode) openBlock('code', 0, 0)
  for (let start = 0; start <= content.length; ) {
    const newline = content.indexOf('\n', start)
    const end = newline < 0 ? content.length : newline
    const line = content.slice(start, end)
    const [fence, language = ''] = FENCE.exec(line) ?? []
    if (fence !== undefined) {
      if (isCode && open) {
        open.isComplete = !startsInCode || open !== blocks[0]
        open.end = end
      }
      isCode = !isCode
      if (isCode) openBlock('code', start, end, language.toLowerCase())
      else open = undefined
    } else if (isCode && open) open.end = end
    else if (line.trim() === '') open = undefined
    else if (RULE.test(line)) {
      if (open?.kind === 'row') open.end = end
      else open = undefined
    } else if ((HEADING.test(line) && !isComment(content, start, end)) || isPlainHeading(content, { start, end }, isPlain)) {
      openBlock('heading', start, end)
      open = undefined
    } else if (isRow(content, line, end, open?.kind === 'row')) openBlock('row', start, end)
    else if (ITEM.test(line) || OPTION.test(line)) openBlock('item', start, end)
    else if (open && open.kind !== 'row') open.end = end
    else openBlock('text', start, end)
    start = end + 1
  }
  return blocks
    .filter((block) => content.slice(block.start, block.end).trim() !== '')
    .map((block) => (block.kind === 'text' && isRecord(content.slice(block.start, block.end)) ? { ...block, kind: 'record' } : block))
}

/** A line of its own that is underlined or, in plain text, looks like a title. */
function isPlainHeading(content: string, { start, end }: Span, isPlain: boolean): boolean {
  const line = content.slice(start, end).trim()
  const isBelowText = start > 0 && !/\n[ \t]*\n$/.test(content.slice(Math.max(0, start - 100), start))
  if (isBelowText || line.length > MAX_HEADING_LENGTH) return false
  const below = content.slice(end + 1, end + 200)
  if (UNDERLINE.test(below) && !line.includes('|')) return true
  if (!isPlain || /[.,;:!?]$|: /.test(line) || !/^[\p{Lu}\d]/u.test(line)) return false
  if (/^[\p{Lu}\d\s&/,()–-]{4,}$/u.test(line) && /\p{Lu}{2}/u.test(line)) return true
  const next = /^[ \t]*\n/.test(below) ? below.trim() : ''
  return next !== '' && !(ITEM.test(line) && ITEM.test(next))
}

/** The pipe at the start of a row is optional in a table with a delimiter row. */
function isRow(content: string, line: string, end: number, isBelowRow: boolean): boolean {
  if (ROW.test(line)) return true
  if (!line.includes('|')) return false
  const below = content.slice(end + 1, end + 200).split('\n', 1)[0] as string
  return isBelowRow || (RULE.test(below) && below.includes('|') && below.includes('--'))
}

/** Values may have several lines. */
function isRecord(text: string): boolean {
  const lines = text.split('\n', 50)
  const count = lines.filter((line) => FIELD.test(line)).length
  return count >= 2 && count >= MIN_FIELD_SHARE * lines.length && FIELD.test(lines[0] as string)
}

interface SettingBlock extends Block {
  hasComment: boolean
  hasSetting: boolean
}

/** Each setting is a block with the comment above it, up to a bare comment mark or an empty line. */
function parseSettings(content: string): Block[] {
  const blocks: Block[] = []
  const lines = splitLines(content)
  let open: SettingBlock | undefined
  let paragraphs: SettingBlock[] = []
  for (const [index, { start, end, text }] of lines.entries()) {
    const { kind } = classifyConfigLine(text, lines[index - 1]?.text ?? '', lines[index + 1]?.text ?? '')
    if (kind === 'blank' || kind === 'heading') paragraphs = []
    if (kind === 'blank') open = undefined
    else if (kind === 'heading') {
      blocks.push({ kind, start, end, language: '', isComplete: true })
      open = undefined
    } else if (kind === 'separator') {
      // What is below the mark belongs to the comment if it is a setting.
      const below = lines[index + 1]
      const isAboveSetting = below && classifyConfigLine(below.text, text, lines[index + 2]?.text ?? '').kind === 'setting'
      if (!isAboveSetting) open = undefined
    } else {
      const isSetting = kind === 'setting'
      const isIndented = /^\s/.test(text)
      const continues = open && (isSetting ? open.hasComment || isIndented : !open.hasSetting)
      if (!open || !continues) {
        open = { kind: 'setting', start, end, language: '', isComplete: false, hasComment: !isSetting, hasSetting: isSetting }
        blocks.push(open)
        if (!isSetting)
          paragraphs = [...paragraphs.filter(({ settings, hasSetting }) => !settings && !hasSetting).slice(-MAX_PARAGRAPHS), open]
      }
      if (isSetting) for (const block of paragraphs) if (block !== open) block.settings = { start: block.settings?.start ?? start, end }
      Object.assign(open, { end, hasSetting: open.hasSetting || isSetting })
    }
  }
  return blocks
}

/** A statement or definition of source code is a line that is indented least, and those below it. */
function parseCode(content: string): Block[] {
  const lines = splitLines(content)
  const isClosing = (text: string) => /^\s*[)\]}]/.test(text)
  const measureIndentation = (text: string) => text.length - text.trimStart().length
  const starts = lines.slice(1).filter(({ text }) => text.trim() !== '' && !isClosing(text))
  const least = starts.reduce((min, { text }) => Math.min(min, measureIndentation(text)), Number.POSITIVE_INFINITY)
  const blocks: Block[] = []
  for (const [index, { start, end, text }] of lines.entries()) {
    if (text.trim() === '') continue
    const open = blocks.at(-1)
    // The first line of a passage lacks its indentation. A comment belongs to the line below it.
    const isContinued =
      isClosing(text) || measureIndentation(text) > least || (/^\s*(?:\/\/|#|\*|\/\*)/.test(lines[index - 1]?.text ?? '') && index > 0)
    if (open && isContinued) open.end = end
    else blocks.push({ kind: 'statement', start, end, language: '', isComplete: false })
  }
  return blocks
}

function splitLines(content: string): (Span & { text: string })[] {
  let start = 0
  return content.split('\n').map((text) => {
    const line = { start, end: start + text.length, text }
    start = line.end + 1
    return line
  })
}

function isComment(content: string, start: number, end: number): boolean {
  const above = content.slice(content.lastIndexOf('\n', start - 2) + 1, Math.max(0, start - 1))
  const below = content.slice(end + 1, end + 8)
  return COMMENT.test(below) || (start > 0 && COMMENT.test(above))
}

/** The first fence closes code then, so it has no info string. */
function isCutCode(content: string): boolean {
  const fences = content.split('\n').filter(isFence)
  return fences.length % 2 === 1 && FENCE.exec(fences[0] as string)?.[1] === ''
}

/** Returns the header of the table that a row belongs to, if the passage contains it. It includes the delimiter row. */
export function findTableHeader(content: string, blocks: readonly Block[], row: number): Block | undefined {
  let first = row
  while (blocks[first - 1]?.kind === 'row') first--
  const header = blocks[first] as Block
  return content.slice(header.start, header.end).includes('\n') ? header : undefined
}

export function parseParts(content: string, blocks: readonly Block[]): Part[] {
  return blocks.flatMap((block, blockIndex) => {
    const isWhole = block.kind !== 'text' && block.kind !== 'item'
    const spans = isWhole ? [{ start: block.start, end: block.end }] : splitSentences(content, block)
    return spans.map((span) => ({ ...span, block, blockIndex }))
  })
}

const SENTENCES = new Intl.Segmenter(undefined, { granularity: 'sentence' })
const ABBREVIATED = /(?:^|[\s(])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Nos?|Figs?|Vol|pp|vs|cf|al|e\.g|i\.e|etc|approx|ca|z\.B)\.$/u
/** A single letter is usually an initial; before one of these words it ends the sentence. */
const LETTER = /(?:^|[\s(])\p{L}\.$/u
const BEGINNING = /^(?:The|This|These|An?|It|We|You|They|If|In|For|Der|Die|Das|Eine?|Es|Wir|Sie|Im|Bei|Le|La|Les|Une?|Il|Elle|El|Los|Las)\s/
/** Marks that close what the sentence before opened: `**Note.** The …`. */
const CLOSING = /^(?:[*_]{1,3}|["'”’)\]])\s+/
/** Marks of list items, tasks and quotations. */
const MARKS = /^\s*(?:>\s?)*(?:(?:[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?)?/

function splitSentences(content: string, { start, end }: Span): Span[] {
  // Line breaks inside a paragraph do not end a sentence.
  const text = content.slice(start, end).replaceAll('\n', ' ')
  const sentences: Span[] = []
  let from = MARKS.exec(text)?.[0].length ?? 0
  const add = (to: number) => {
    const sentence = text.slice(from, to)
    const left = from + (sentence.length - sentence.trimStart().length)
    const right = from + sentence.trimEnd().length
    if (right > left) sentences.push({ start: start + left, end: start + right })
    from = to
  }
  for (const to of findSentenceEnds(text)) if (to > from) add(to)
  return sentences
}

function findSentenceEnds(text: string): number[] {
  const ends: number[] = []
  for (const { index, segment } of SENTENCES.segment(text)) {
    // Inline code can start a sentence with a lower-case letter.
    for (const { 0: gap, index: at } of segment.matchAll(/(?<=\p{L}[.!?]\)?)\s+(?=`)/gu)) ends.push(index + at + gap.length)
    ends.push(index + segment.length)
  }
  return ends
    .map((end) => end + (CLOSING.exec(text.slice(end, end + 8))?.[0].length ?? 0))
    .filter((end) => {
      const last = text.slice(Math.max(0, end - 9), end).trimEnd()
      return end >= text.length || !ABBREVIATED.test(last) || (LETTER.test(last) && BEGINNING.test(text.slice(end, end + 12)))
    })
}

/** Removes Markdown syntax and HTML tags, but not inside words and code. With `keepsCode`, code spans and __names__ remain code spans. */
export function stripMarkdown(text: string, { keepsCode = false } = {}): string {
  const kept: string[] = []
  const keep = (inner: string) => `\uE000${kept.push(inner) - 1}\uE001`
  return text
    .replaceAll(/[\uE000\uE001]/g, '')
    .replaceAll(/^[ \t]*(?:>[ \t]?|#+(?:[ \t]+|$))+/gm, '')
    .replaceAll(/(?<!`)(`{1,3})(?!`)([^`]{1,1000})\1(?!`)/g, (span, _ticks, code: string) => keep(keepsCode ? span : code.trim()))
    .replaceAll(/(?<!\w)__[a-z][a-z0-9_]{0,100}__(?!\w)/g, (name) => (keepsCode ? keep(`\`${name}\``) : name))
    .replaceAll(/\\([\\`*_{}[\]()#+.!|-])/g, (_, sign: string) => keep(sign))
    .replaceAll(/(!?)\[([^[\]]{0,1000})\]\([^()\s]{0,1000}(?:\s"[^"]{0,200}")?\)/g, (_, image: string, link: string) => (image ? '' : link))
    .replaceAll(/\[([^[\]]{1,1000})\]\[[^[\]]{0,200}\]/g, '$1')
    .replaceAll(/(\*{1,3})(?=[^\s*])([^*]{1,1000})(?<=[^\s*])\1/g, '$2')
    .replaceAll(/(?<![\p{L}\p{N}_])(_{1,3})(?=[^\s_])((?:[^_]|(?<=\w)_(?=\w)){1,1000})(?<=[^\s_])\1(?![\p{L}\p{N}_])/gu, '$2')
    .replaceAll(/<\/?[a-z][a-z0-9]{0,10}(?:\s[^<>]{0,300})?\/?>|<!--[^<>]{0,300}-->/gi, '')
    .replaceAll(/\uE000(\d+)\uE001/g, (_, at: string) => kept[Number(at)] as string)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
