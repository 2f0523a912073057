/** Splits a passage into sentences and table rows that can be quoted, with the code or list below them. */
import { type Block, splitBlocks, stripMarkdown } from './split-blocks.ts'

export interface QuotableSentence {
  text: string
  isRow: boolean
  /** A line of shell code with a comment that describes it. */
  isCommand: boolean
  /** The nearest heading, or the question that the sentence answers. */
  heading: string
  /** The first sentence under its heading. */
  isLead: boolean
  /** Whether its paragraph contains inline code. */
  namesCode: boolean
  /** The passage starts in the middle of it. */
  isTruncated: boolean
  /** The code or list right below its paragraph. */
  below: FollowingBlock | undefined
}

export interface FollowingBlock {
  /** Markdown. */
  raw: string
  text: string
  isShell: boolean
  /** The sentence ends with a colon. */
  isAnnounced: boolean
  /** No other sentence announces the block. */
  isOwned: boolean
}

/** Longer sentences are split into parts. */
const MAX_LENGTH = 400
const MAX_BLOCK_LINES = 8
const MAX_BLOCK_LENGTH = 500
const SHELL = new Set(['sh', 'bash', 'shell', 'zsh', 'fish', 'console', 'shellsession', 'terminal', 'powershell', 'ps1', 'cmd', 'bat'])

export function splitSentences(content: string, headingAbove = ''): QuotableSentence[] {
  const blocks = splitBlocks(content)
  const quotable: QuotableSentence[] = []
  let heading = headingAbove
  let isLead = headingAbove === ''
  for (const [blockIndex, block] of blocks.entries()) {
    if (block.kind === 'heading') [heading, isLead] = [stripMarkdown(block.raw.replace(/^\s*#+\s+/, '').replace(/\s+#+\s*$/, '')), true]
    for (const text of extractCommands(block))
      quotable.push({
        text,
        isRow: false,
        isCommand: true,
        heading: '',
        isLead: false,
        namesCode: true,
        isTruncated: false,
        below: undefined,
      })
    if (block.kind === 'heading' || block.kind === 'code') continue
    const isRow = block.kind === 'row'
    const sentences = isRow ? [formatRow(block.raw)] : splitBlockSentences(block.raw)
    const announces = /[:：]$/.test(sentences.at(-1) ?? '')
    for (const [index, text] of sentences.entries()) {
      // Questions are not quoted; the text below them is their answer.
      if (/[?？]["'”’)\]]?$/.test(text)) {
        ;[heading, isLead] = [text, true]
        continue
      }
      const isLast = index === sentences.length - 1
      const below = isRow ? undefined : findFollowingBlock(blocks, blockIndex, announces, isLast)
      const namesCode = /`[^`]+`/.test(block.raw)
      const isTruncated = blockIndex === 0 && index === 0 && /^\p{Ll}/u.test(text)
      for (const part of splitLongSentence(text, block.raw))
        quotable.push({ text: part, isRow, isCommand: false, heading, isLead, namesCode, isTruncated, below })
      isLead = false
    }
  }
  return quotable.filter(({ text }) => /\p{L}{2}|[\p{Script=Han}\p{Script=Thai}]/u.test(text))
}

/** Also finds commands in code whose fences are in other passages. */
function extractCommands({ kind, language, raw }: Block): string[] {
  if (!(kind === 'code' ? language === '' || SHELL.has(language) : kind === 'text' && isCode(raw))) return []
  return raw
    .split('\n')
    .flatMap((line) =>
      line.length <= MAX_LENGTH && /^\s*[\p{L}$>].*\S\s+#\s+\p{L}+\P{L}+\p{L}/u.test(line) ? [line.trim().replaceAll(/\s+/g, ' ')] : [],
    )
}

/** Returns short code below a paragraph, or a short list that its last sentence announces. */
function findFollowingBlock(blocks: readonly Block[], index: number, announces: boolean, isLast: boolean): FollowingBlock | undefined {
  const [{ kind }, next] = [blocks[index] as Block, blocks[index + 1]]
  if (!next) return undefined
  const isAnnounced = announces && isLast
  const isList = isAnnounced && (next.kind === 'row' || (next.kind === 'item' && kind === 'text'))
  if (!isList && !(next.kind === 'code' && next.isComplete)) return undefined
  const text = isList ? joinList(blocks, index + 1) : next.raw
  if (text.length > MAX_BLOCK_LENGTH || text.split('\n').length > MAX_BLOCK_LINES) return undefined
  return {
    raw: isList ? text : `\`\`\`${next.language}\n${text}\n\`\`\``,
    text,
    isShell: SHELL.has(next.language),
    isAnnounced,
    isOwned: isLast || !announces,
  }
}

function joinList(blocks: readonly Block[], first: number): string {
  const items = blocks.slice(first, first + MAX_BLOCK_LINES + 1)
  const end = items.findIndex(({ kind }) => kind !== items[0]?.kind)
  return (end < 0 ? items : items.slice(0, end)).map(({ raw }) => raw.trimEnd()).join('\n')
}

const formatRow = (raw: string) =>
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

/** A single letter is usually an initial; before one of these words it ends the sentence. */
const LETTER = /(?:^|[\s(])\p{L}\.$/u
const BEGINNING = /^(?:The|This|These|An?|It|We|You|They|If|In|For|Der|Die|Das|Eine?|Es|Wir|Sie|Im|Bei|Le|La|Les|Une?|Il|Elle|El|Los|Las)\s/

/** Returns sentences without Markdown syntax. */
function splitBlockSentences(raw: string): string[] {
  const text = raw.replace(/^\s*(?:[-*+]|\d{1,4}[.)])\s+(?:\[[ xX]\]\s+)?/, '').replaceAll(/^\s*>+ ?/gm, '')
  // Inline code can start a sentence with a lowercase letter.
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

/** Splits a long sentence into parts of similar length, marked with an ellipsis. Drops long code whose fences are in other passages. */
function splitLongSentence(text: string, raw: string): string[] {
  if (text.length <= MAX_LENGTH) return [text]
  if (isCode(raw)) return []
  const count = Math.ceil(text.length / (MAX_LENGTH * 0.8))
  const parts: string[] = []
  for (let start = 0, at = 1; at <= count; at++) {
    const wanted = Math.round((text.length * at) / count)
    const end = at === count ? text.length : findSplitPosition(text, Math.max(start + 1, wanted - 60), Math.min(text.length, wanted + 40))
    parts.push(`${start === 0 ? '' : '… '}${text.slice(start, end).trim()}${end === text.length ? '' : ' …'}`)
    start = end
  }
  return parts
}

/** Returns the best position to split at: after a clause, else between words, also in scripts without spaces. */
function findSplitPosition(text: string, from: number, to: number): number {
  const window = text.slice(from, to)
  for (const mark of [/.*[;；:：–—](?=\s|\p{Script=Han})/su, /.*[,，、)）](?=\s|\p{L})/su, /.*\s/s]) {
    const [reach] = mark.exec(window) ?? []
    if (reach !== undefined) return from + reach.length
  }
  const last = Array.from(WORDS.segment(window), ({ index }) => index).at(-1) ?? 0
  return last === 0 ? to : from + last
}

/** Detects code by its punctuation or by aligned columns. */
function isCode(raw: string): boolean {
  const signs = raw.match(/[{}[\]()=;<>$|\\_#`~^&@]|--|\/\//g)?.length ?? 0
  const lines = raw.split('\n')
  const aligned = lines.filter((line) => /[^.?!\s] {2,}\S/.test(line)).length
  return signs > raw.length * 0.05 || (lines.length > 2 && aligned * 2 >= lines.length)
}
