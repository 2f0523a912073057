/** Splits a passage of Markdown or plain text into the parts that an answer can quote, with their positions. */

export interface Span {
  start: number
  end: number
}

export interface Block extends Span {
  kind: 'heading' | 'text' | 'item' | 'row' | 'code'
  /** For code: the info string of its fence. */
  language: string
  /** False for code that the passage contains only in part. */
  isComplete: boolean
}

/** A sentence, or a whole heading, table row or block of code. */
export interface Part extends Span {
  block: Block
  blockIndex: number
}

const FENCE = /^\s*(?:```|~~~)\s*(\S*)/
export const isFence = (line: string) => FENCE.test(line)
const HEADING = /^ {0,3}#{1,6}\s/
/** A comment in a configuration file or script: not alone like a heading, but below or above another one. */
const COMMENT = /^[ \t]*#/
const ITEM = /^\s*(?:[-*+]|\d{1,4}[.)])\s/
const ROW = /^\s*\|/
/** Delimiter rows of tables and thematic breaks. */
const RULE = /^[\s|:*_=-]{3,1000}$/

/** Passages can start and end anywhere, even inside code. */
export function parseBlocks(content: string): Block[] {
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
    } else if (HEADING.test(line) && !isComment(content, start, end)) {
      openBlock('heading', start, end)
      open = undefined
    } else if (ROW.test(line)) openBlock('row', start, end)
    else if (ITEM.test(line)) openBlock('item', start, end)
    else if (open && open.kind !== 'row') open.end = end
    else openBlock('text', start, end)
    start = end + 1
  }
  return blocks.filter((block) => content.slice(block.start, block.end).trim() !== '')
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

/** Removes Markdown syntax and HTML tags, but not inside words and code. */
export function stripMarkdown(text: string): string {
  const kept: string[] = []
  const keep = (inner: string) => `\uE000${kept.push(inner) - 1}\uE001`
  return text
    .replaceAll(/[\uE000\uE001]/g, '')
    .replaceAll(/^[ \t]*(?:>[ \t]?|#+(?:[ \t]+|$))+/gm, '')
    .replaceAll(/(?<!`)(`{1,3})(?!`)([^`]{1,1000})\1(?!`)/g, (_, _ticks, code: string) => keep(code.trim()))
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
