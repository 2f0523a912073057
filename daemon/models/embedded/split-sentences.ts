/** What of a passage can be quoted: its sentences and the rows of its tables. Code is neither, but may be given with what introduces it. */
import { type Block, splitBlocks, stripMarkdown } from './split-blocks.ts'

export interface QuotableSentence {
  text: string
  /** Of a table. */
  isRow: boolean
  /** A line of code with a comment that says what it does. */
  isCommand: boolean
  /** What it stands under: the nearest heading, or the question that it answers. */
  heading: string
  /** The first sentence under its heading. */
  isLead: boolean
  /** Whether it names code in its own words. */
  namesCode: boolean
  /** The passage begins in the middle of it. */
  isTruncated: boolean
  /** What stands right below its paragraph, as it stands there. */
  below: FollowingBlock | undefined
}

export interface FollowingBlock {
  /** As Markdown. */
  raw: string
  text: string
  /** Commands for a terminal. */
  isShell: boolean
  /** The sentence ends with a colon: without what is below it says only half. */
  isAnnounced: boolean
  /** No other sentence announces it. */
  isOwned: boolean
}

/** Nobody quotes more at once: of a longer sentence the part is quoted that answers. */
const LONGEST = 400
const MOST_LINES_BELOW = 8
const LONGEST_BELOW = 500
const SHELL = new Set(['sh', 'bash', 'shell', 'zsh', 'fish', 'console', 'shellsession', 'terminal', 'powershell', 'ps1', 'cmd', 'bat'])

export function splitSentences(content: string, above = ''): QuotableSentence[] {
  const blocks = splitBlocks(content)
  const found: QuotableSentence[] = []
  let heading = above
  let lead = above === ''
  for (const [at, block] of blocks.entries()) {
    if (block.kind === 'heading') [heading, lead] = [stripMarkdown(block.raw.replace(/^\s*#+\s+/, '').replace(/\s+#+\s*$/, '')), true]
    for (const text of commandsOf(block))
      found.push({ text, isRow: false, isCommand: true, heading: '', isLead: false, namesCode: true, isTruncated: false, below: undefined })
    if (block.kind === 'heading' || block.kind === 'code') continue
    const row = block.kind === 'row'
    const sentences = row ? [rowText(block.raw)] : sentencesOf(block.raw)
    const announcing = /[:：]$/.test(sentences.at(-1) ?? '')
    for (const [place, text] of sentences.entries()) {
      // A question answers none; what stands below it may answer the same one.
      if (/[?？]["'”’)\]]?$/.test(text)) {
        ;[heading, lead] = [text, true]
        continue
      }
      const last = place === sentences.length - 1
      const below = row ? undefined : belowOf(blocks, at, announcing, last)
      const naming = /`[^`]+`/.test(block.raw)
      const broken = at === 0 && place === 0 && /^\p{Ll}/u.test(text)
      for (const part of partsOf(text, block.raw))
        found.push({ text: part, isRow: row, isCommand: false, heading, isLead: lead, namesCode: naming, isTruncated: broken, below })
      lead = false
    }
  }
  return found.filter(({ text }) => /\p{L}{2}|[\p{Script=Han}\p{Script=Thai}]/u.test(text))
}

/** Also of code whose fences stand in other passages. */
function commandsOf({ kind, language, raw }: Block): string[] {
  if (!(kind === 'code' ? language === '' || SHELL.has(language) : kind === 'text' && isCode(raw))) return []
  return raw
    .split('\n')
    .flatMap((line) =>
      line.length <= LONGEST && /^\s*[\p{L}$>].*\S\s+#\s+\p{L}+\P{L}+\p{L}/u.test(line) ? [line.trim().replaceAll(/\s+/g, ' ')] : [],
    )
}

/** Short code below a paragraph, or the short list that its last words announce. */
function belowOf(blocks: readonly Block[], at: number, announcing: boolean, last: boolean): FollowingBlock | undefined {
  const [{ kind }, next] = [blocks[at] as Block, blocks[at + 1]]
  if (!next) return undefined
  const announced = announcing && last
  const listed = announced && (next.kind === 'row' || (next.kind === 'item' && kind === 'text'))
  if (!listed && !(next.kind === 'code' && next.isComplete)) return undefined
  const text = listed ? listBelow(blocks, at + 1) : next.raw
  if (text.length > LONGEST_BELOW || text.split('\n').length > MOST_LINES_BELOW) return undefined
  return {
    raw: listed ? text : `\`\`\`${next.language}\n${text}\n\`\`\``,
    text,
    isShell: SHELL.has(next.language),
    isAnnounced: announced,
    isOwned: last || !announcing,
  }
}

function listBelow(blocks: readonly Block[], first: number): string {
  const listed = blocks.slice(first, first + MOST_LINES_BELOW + 1)
  const end = listed.findIndex(({ kind }) => kind !== listed[0]?.kind)
  return (end < 0 ? listed : listed.slice(0, end)).map(({ raw }) => raw.trimEnd()).join('\n')
}

/** Its cells, without the frame around them. */
const rowText = (raw: string) =>
  stripMarkdown(
    raw
      .trim()
      .replace(/^\|/, '')
      .replace(/\|$/, '')
      .replaceAll(/\s*\|\s*/g, ' | '),
  )

const SENTENCES = new Intl.Segmenter(undefined, { granularity: 'sentence' })
const WORDS = new Intl.Segmenter(undefined, { granularity: 'word' })
const ABBREVIATED = /(?:^|[\s(])(?:\p{L}|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Nos?|Figs?|Vol|pp|vs|cf|al|e\.g|i\.e|etc|approx|ca|z\.B)\.$/u

/** A letter alone is mostly somebody's initial; before a word that no name has, it ends its sentence. */
const LETTER = /(?:^|[\s(])\p{L}\.$/u
const BEGINNING = /^(?:The|This|These|An?|It|We|You|They|If|In|For|Der|Die|Das|Eine?|Es|Wir|Sie|Im|Bei|Le|La|Les|Une?|Il|Elle|El|Los|Las)\s/

/** As people would quote them: without the marks of Markdown. */
function sentencesOf(raw: string): string[] {
  const text = raw.replace(/^\s*(?:[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?/, '').replaceAll(/^\s*>+ ?/gm, '')
  // A name in code may begin a sentence with a small letter.
  return text.split(/(?<=\p{L}[.!?]\)?)\s+(?=`)/u).flatMap((part) => split(stripMarkdown(part)))
}

function split(text: string): string[] {
  const sentences: string[] = []
  let start = 0
  for (const { index, segment } of SENTENCES.segment(text)) {
    const end = index + segment.length
    const last = text.slice(Math.max(start, end - 9), end).trimEnd()
    if (end < text.length && ABBREVIATED.test(last) && !(LETTER.test(last) && BEGINNING.test(text.slice(end)))) continue
    sentences.push(text.slice(start, end).trim())
    start = end
  }
  return sentences
}

/** A long sentence in parts of about the same length, each with a mark where it goes on. Long code whose fences stand in other passages is dropped. */
function partsOf(text: string, raw: string): string[] {
  if (text.length <= LONGEST) return [text]
  if (isCode(raw)) return []
  const count = Math.ceil(text.length / (LONGEST * 0.8))
  const parts: string[] = []
  for (let start = 0, at = 1; at <= count; at++) {
    const wanted = Math.round((text.length * at) / count)
    const end = at === count ? text.length : border(text, Math.max(start + 1, wanted - 60), Math.min(text.length, wanted + 40))
    parts.push(`${start === 0 ? '' : '… '}${text.slice(start, end).trim()}${end === text.length ? '' : ' …'}`)
    start = end
  }
  return parts
}

/** The best place to cut between two: behind a clause, else between words, also where no spaces stand between them. */
function border(text: string, from: number, to: number): number {
  const window = text.slice(from, to)
  for (const mark of [/.*[;；:：–—](?=\s|\p{Script=Han})/su, /.*[,，、)）](?=\s|\p{L})/su, /.*\s/s]) {
    const [reach] = mark.exec(window) ?? []
    if (reach !== undefined) return from + reach.length
  }
  const last = [...WORDS.segment(window)].at(-1)?.index ?? 0
  return last === 0 ? to : from + last
}

/** By its signs, or by columns that stand in line. */
function isCode(raw: string): boolean {
  const signs = raw.match(/[{}[\]()=;<>$|\\_#`~^&@]|--|\/\//g)?.length ?? 0
  const lines = raw.split('\n')
  const aligned = lines.filter((line) => /[^.?!\s] {2,}\S/.test(line)).length
  return signs > raw.length * 0.05 || (lines.length > 2 && aligned * 2 >= lines.length)
}
