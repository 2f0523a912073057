/** Splits a passage of Markdown or plain text into the parts that an answer can quote, with their positions. */
import { classifyConfigLine, isConfigText } from '../../language/classify-config-line.ts'
import { isCodeName } from '../../language/code-extensions.ts'
import { isItem, type MarkdownBlock, parseFence, parseMarkdown } from '../../language/parse-markdown.ts'
import { isDataFileName } from '../../tables/typed-table.ts'

export interface Span {
  start: number
  end: number
}

export interface Block extends Span {
  /**
   * A record consists of lines of "column: value"; a field is such a line that says something alone. A setting includes its comment;
   * statements are those of source code.
   */
  kind: 'heading' | 'text' | 'item' | 'row' | 'record' | 'field' | 'setting' | 'statement' | 'code'
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

const PLAIN_TEXT = /\.(?:txt|text)$/i
const MAX_HEADING_LENGTH = 70
/** Sentences with code in them, such as "Listens on `port: 0`", are no fields. */
const FIELD = /^[\p{L}\p{N}_$][^:\n|`]{0,79}: \S/u
const MIN_FIELD_SHARE = 0.6
/** Formats whose fields belong together. */
const STRUCTURED = /\.(?:eml|emlx|mbox|msg|ics|vcf|jsonl?|ya?ml)$/i
const MAIL_HEADER = /^(?:From|To|Cc|Date|Attachments): /
/** Of a comment above a setting; those further up are seldom about it. */
const MAX_PARAGRAPHS = 6

/** Passages can start and end anywhere, even inside code. */
export function parseBlocks(content: string, source = ''): Block[] {
  if (isConfigText(source, content)) return parseSettings(content)
  if (isCodeName(source)) return parseCode(content)
  const blocks = parseText(content, PLAIN_TEXT.test(source))
  return isDataFileName(source) || STRUCTURED.test(source) ? blocks : splitFields(content, blocks)
}

function parseText(content: string, isPlain: boolean): Block[] {
  const isHeading = (start: number, end: number) => isPlain && isPlainHeading(content, { start, end })
  return parseMarkdown(content, { startsInCode: isCutCode(content), isHeading })
    .filter(({ start, end, kind }) => kind !== 'rule' && content.slice(start, end).trim() !== '')
    .map(({ kind, start, end, language, isComplete }) => ({ ...classifyBlock(content, kind, { start, end }), language, isComplete }))
}

/** Splits records whose columns no other record has: in a note, each line of "Plumber: …" and "Insurance: …" is about something else. */
function splitFields(content: string, blocks: readonly Block[]): Block[] {
  const records = blocks.filter(({ kind }) => kind === 'record')
  const names = records.flatMap(({ start, end }) => [...readFieldNames(content.slice(start, end))])
  if (new Set(names).size < names.length) return [...blocks]
  return blocks.flatMap((block) => {
    const lines = block.kind === 'record' ? splitLines(content.slice(block.start, block.end)) : []
    if (lines.length === 0 || lines.every(({ text }) => MAIL_HEADER.test(text))) return [block]
    const starts = lines.filter(({ text }, index) => index === 0 || FIELD.test(text)).map(({ start }) => block.start + start)
    const ends = [...starts.slice(1).map((start) => start - 1), block.end]
    return starts.map((start, index): Block => ({ ...block, kind: 'field', start, end: ends[index] as number }))
  })
}

const readFieldNames = (text: string): Set<string> =>
  new Set(splitLines(text).flatMap((line) => (FIELD.test(line.text) ? (line.text.split(':', 1)[0] as string) : [])))

function classifyBlock(content: string, kind: MarkdownBlock['kind'], { start, end }: Span): Span & Pick<Block, 'kind'> {
  const text = content.slice(start, end)
  // Without the lines around the fields, and without the underline of a title.
  if (kind === 'frontMatter') return { kind: 'record', start: start + 4, end: end - 4 }
  if (kind === 'heading') return { kind, start, end: start + (text.split('\n', 1)[0] as string).length }
  if (kind === 'text' && isRecord(text)) return { kind: 'record', start, end }
  return { kind: kind === 'html' || kind === 'rule' ? 'text' : kind, start, end }
}

/** Whether a line of plain text looks like a title. */
function isPlainHeading(content: string, { start, end }: Span): boolean {
  const line = content.slice(start, end).trim()
  const isBelowText = start > 0 && !/\n[ \t]*\n$/.test(content.slice(Math.max(0, start - 100), start))
  if (isBelowText || line.length > MAX_HEADING_LENGTH || /[.,;:!?]$|: /.test(line) || !/^[\p{Lu}\d]/u.test(line)) return false
  if (/^[\p{Lu}\d\s&/,()–-]{4,}$/u.test(line) && /\p{Lu}{2}/u.test(line)) return true
  const below = content.slice(end + 1, end + 200)
  const next = /^[ \t]*\n/.test(below) ? below.trim() : ''
  return next !== '' && !(isItem(line) && isItem(next))
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

/** An odd number of fences is above the first one that certainly opens code, because it has a language. */
function isCutCode(content: string): boolean {
  const fences = content.split('\n').flatMap((line) => parseFence(line) ?? [])
  const same = fences.filter(({ fence }) => fence === fences[0]?.fence)
  const opening = same.findIndex(({ language }) => language !== '')
  return (opening < 0 ? same.length : opening) % 2 === 1
}

/** Returns the header of the table that a row belongs to, if the passage contains it. It includes the delimiter row. */
export function findTableHeader(content: string, blocks: readonly Block[], row: number): Block | undefined {
  let first = row
  while (blocks[first - 1]?.kind === 'row') first--
  const header = blocks[first] as Block
  return content.slice(header.start, header.end).includes('\n') ? header : undefined
}

/** Whether a text announces what is below it. */
export const announces = (text: string): boolean => /[:：]$/.test(text)

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
/** A link can contain the end of a sentence: `["Who may apply?"](apply.md)`. */
const LINK = /\[[^[\]]{1,300}\]\([^()]{0,500}\)/g
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
  const links = Array.from(text.matchAll(LINK), ({ 0: link, index }) => ({ start: index, end: index + link.length }))
  for (const { index, segment } of SENTENCES.segment(text)) {
    // Inline code can start a sentence with a lower-case letter.
    for (const { 0: gap, index: at } of segment.matchAll(/(?<=\p{L}[.!?]\)?)\s+(?=`)/gu)) ends.push(index + at + gap.length)
    ends.push(index + segment.length)
  }
  return ends
    .map((end) => end + (CLOSING.exec(text.slice(end, end + 8))?.[0].length ?? 0))
    .filter((end) => {
      if (links.some((link) => link.start < end && end < link.end)) return false
      const last = text.slice(Math.max(0, end - 9), end).trimEnd()
      // "Part no. BR-417", but not "The answer is no."
      if (/\bno\.$/.test(last) && /^\p{Lu}{0,4}-?\d/u.test(text.slice(end, end + 6))) return false
      return end >= text.length || !ABBREVIATED.test(last) || (LETTER.test(last) && BEGINNING.test(text.slice(end, end + 12)))
    })
}
