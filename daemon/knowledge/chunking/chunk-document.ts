/** Splits a document into passages: first into sections, then at paragraphs and sentences. */

import { tokenize } from '../../language/tokenize.ts'
import type { ParsedDocument } from '../readers/parsed-document.ts'
import type { ChunkingSettings } from './chunking-settings.ts'
import { groupSections } from './group-sections.ts'
import { packSegments } from './pack-segments.ts'
import { type Block, parseStructure } from './parse-structure.ts'
import { BREAK_WEIGHT, type Segment, splitRange, splitSentences, type TextRange, trimRange } from './segments.ts'

export interface Passage {
  /** Text of the document from start to end. */
  content: string
  start: number
  end: number
  /** Page of the start; 1 in a document without pages. */
  page: number
  /** Headings above the passage, outermost first. In documents without a title of their own, the first one is the file name. */
  headings: string[]
  position: number
  /** Tokens of the passage and its headings for the full-text index. */
  words: string
}

/** Length of the empty line between the parts of a document. */
const PART_SEPARATOR_LENGTH = 2

/** Yields one passage at a time: those of a large table together would need several times its memory. */
export function* generatePassages(document: ParsedDocument, settings: ChunkingSettings, name = ''): Generator<Passage> {
  const { rest, ...first } = document
  let position = 0
  for (const passage of chunkPart(first, settings, name)) yield { ...passage, position: position++ }
  let offset = first.text.length
  for (const part of rest?.() ?? []) {
    offset += PART_SEPARATOR_LENGTH
    for (const { start, end, ...passage } of chunkPart({ ...first, ...part }, settings, name))
      yield { ...passage, start: start + offset, end: end + offset, position: position++ }
    offset += part.text.length
  }
}

function* chunkPart(document: ParsedDocument, settings: ChunkingSettings, name: string): Generator<Omit<Passage, 'position'>> {
  const { text, pages, format, places } = document
  const fileTitle = format === 'markdown' ? undefined : findFileTitle(name)
  const { blocks, sections } = parseStructure(document)
  const segments = createSegments(document, blocks, settings.size)
  let page = 0
  for (const { segments: group, section } of groupSections(text, segments, sections, settings.size)) {
    for (const { start, end } of packSegments(text, group, settings)) {
      while ((pages[page + 1]?.start ?? Number.POSITIVE_INFINITY) <= start) page++
      const number = pages[page]?.number ?? 1
      const headings = [fileTitle, places?.names?.[number - 1], ...(sections[section]?.headings ?? [])].filter(
        (heading) => heading !== undefined,
      )
      const content = text.slice(start, end)
      const above = headings.filter((heading) => !content.includes(heading)).join(' ')
      const words = above === '' ? tokenize(content) : `${tokenize(above)} ${tokenize(content)}`
      yield { content, start, end, page: number, headings, words }
    }
  }
}

/** Splits blocks into segments that are short enough for a passage and leave room for overlap. */
function createSegments({ text, pages }: ParsedDocument, blocks: readonly Block[], size: number): Segment[] {
  const segments: Segment[] = []
  const add = ({ section, kind }: Block, span: TextRange, weight: number, maxLength: number) => {
    const { start, end } = span
    if (end <= start) return
    if (end - start <= maxLength) return void segments.push({ start, end, weight, section, kind })
    for (const [index, part] of splitRange(text, span, Math.max(1, Math.floor(size / 4))).entries()) {
      segments.push({ start: part.start, end: part.end, weight: index === 0 ? weight : part.weight, section, kind })
    }
  }
  for (const block of blocks) {
    if (block.kind === 'prose') {
      let weight: number | undefined = block.weight
      for (const sentence of splitSentences(text, block.start, block.end)) {
        add(block, sentence, weight ?? (sentence.startsSentence ? BREAK_WEIGHT.sentence : BREAK_WEIGHT.line), size / 2)
        weight = undefined
      }
    } else if (block.end - block.start <= size && block.kind !== 'code')
      add(block, trimRange(text, block.start, block.end), block.weight, size)
    else addLines(text, block, (span, weight) => add(block, span, weight, size / 2))
  }
  weightPageBreaks(text, pages, segments)
  glueHeadings(segments)
  return segments
}

function addLines(text: string, block: Block, add: (span: TextRange, weight: number) => void): void {
  let weight = block.weight
  let blank = false
  for (let start = block.start; start < block.end; ) {
    const newline = text.indexOf('\n', start)
    const end = newline < 0 || newline > block.end ? block.end : newline
    const line = trimRange(text, start, end)
    // Indentation is part of code: only a passage that starts with this line lacks it.
    if (line.end > line.start) {
      add(line, start === block.start ? weight : blank ? BREAK_WEIGHT.sentence : weight)
      weight = BREAK_WEIGHT.codeLine
      blank = false
    } else blank = true
    start = end + 1
  }
}

/** Prefers passages that end with their page, unless a sentence continues on the next one. */
function weightPageBreaks(text: string, pages: ParsedDocument['pages'], segments: Segment[]): void {
  let page = 0
  if (pages.length < 2) return
  for (let index = 0; index < segments.length; index++) {
    const previous = segments[index - 1]
    const segment = segments[index] as Segment
    const before = page
    while ((pages[page + 1]?.start ?? Number.POSITIVE_INFINITY) <= segment.start) page++
    if (page === before || !previous) continue
    if (previous.kind === 'prose' && !/[.!?…:。！？]["'”’)\]]?$/.test(text.slice(previous.end - 3, previous.end))) {
      if (segment.kind === 'prose') segment.weight = Math.min(segment.weight, BREAK_WEIGHT.line)
    } else segment.weight = Math.max(segment.weight, BREAK_WEIGHT.page)
  }
}

/** Keeps a heading with the text or subheading below it. */
function glueHeadings(segments: Segment[]): void {
  for (let index = 1; index < segments.length; index++) {
    const previous = segments[index - 1] as Segment
    const segment = segments[index] as Segment
    if (
      previous.kind === 'heading' &&
      (segment.kind !== 'heading' || segment.section === previous.section || segment.weight < previous.weight)
    )
      segment.weight = BREAK_WEIGHT.glue
  }
}

const MIN_LETTERS = 3
/** File names that programs and cameras give. */
const GENERIC = new Set(
  `copy data doc document dokument download export file image img index new output page print result scan seite temp test text tmp
  unbenannt unnamed untitled`.split(/\s+/),
)

/** Of a document without headings, the name may say what it is about: not ids, hashes, numbers and generic names, which only add noise. */
function findFileTitle(path: string): string | undefined {
  const name = path.replace(/^.*[/\\]/, '')
  const words = name.replace(/\.\w{1,10}$/, '').match(/[\p{L}\p{N}]+/gu) ?? []
  const isWord = (word: string) => !/\d/.test(word) && [...word].length >= MIN_LETTERS && !GENERIC.has(word.toLowerCase())
  // An id has parts of only letters by chance: 1f0c-beef-81d7.
  const isId = words.some((word) => word.length >= 4 && /\d.*\D|\D.*\d.*\D/.test(word) && /^[\da-f]+$/i.test(word))
  return !isId && words.some(isWord) ? name : undefined
}
