/** Cuts a document into passages that respect its structure, with exact spans into its text. */

import type { ParsedDocument } from '../readers/parsed-document.ts'
import { type Block, parseBlocks } from './parse-blocks.ts'
import { alignToCharacter, BREAK_WEIGHT, findWordStart, type Segment, type Span, splitSentences, splitSpan, trimSpan } from './segments.ts'
import { tokenize } from './tokenize.ts'

export interface Passage {
  /** The document's text from start to end. */
  content: string
  start: number
  end: number
  /** Page its start is on; 1 in a document without pages. */
  page: number
  /** Headings it stands under, outermost first. */
  headings: string[]
  position: number
  /** Its words and those of its headings, as the full-text index wants them. */
  words: string
}

export interface ChunkingSettings {
  size: number
  overlap: number
}

/** A passage this empty is only cut off when nothing else fits. */
const MIN_FILL = 0.15

export function chunkDocument(document: ParsedDocument, settings: ChunkingSettings): Passage[] {
  const { text, pages } = document
  const { blocks, paths } = parseBlocks(document)
  const atoms = createSegments(document, blocks, settings.size)
  const chunks: Passage[] = []
  let page = 0
  for (const { start, end, section } of packSegments(text, atoms, settings)) {
    while ((pages[page + 1]?.start ?? Number.POSITIVE_INFINITY) <= start) page++
    const content = text.slice(start, end)
    const headings = paths[section] ?? []
    const above = headings.filter((heading) => !content.includes(heading)).join(' ')
    const words = above === '' ? tokenize(content) : `${tokenize(above)} ${tokenize(content)}`
    chunks.push({ content, start, end, page: pages[page]?.number ?? 1, headings, position: chunks.length, words })
  }
  return chunks
}

/** The pieces of all blocks, none longer than a passage, and long ones short enough to leave room for overlap. */
function createSegments({ text, pages }: ParsedDocument, blocks: readonly Block[], size: number): Segment[] {
  const atoms: Segment[] = []
  const add = ({ section, kind }: Block, span: Span, weight: number, most: number) => {
    const { start, end } = span
    if (end <= start) return
    if (end - start <= most) {
      atoms.push({ start, end, weight, section, kind })
      return
    }
    for (const [index, part] of splitSpan(text, span, Math.max(1, Math.floor(size / 4))).entries()) {
      atoms.push({ start: part.start, end: part.end, weight: index === 0 ? weight : part.weight, section, kind })
    }
  }
  for (const block of blocks) {
    if (block.kind === 'prose') {
      let weight: number | undefined = block.weight
      for (const sentence of splitSentences(text, block.start, block.end)) {
        add(block, sentence, weight ?? (sentence.whole ? BREAK_WEIGHT.sentence : BREAK_WEIGHT.line), size / 2)
        weight = undefined
      }
    } else if (block.end - block.start <= size && block.kind !== 'code')
      add(block, trimSpan(text, block.start, block.end), block.weight, size)
    else addLines(text, block, (span, weight) => add(block, span, weight, size / 2))
  }
  weightPageBreaks(text, pages, atoms)
  glueHeadings(atoms)
  return atoms
}

function addLines(text: string, block: Block, add: (span: Span, weight: number) => void): void {
  let weight = block.weight
  let blank = false
  for (let at = block.start; at < block.end; ) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 || newline > block.end ? block.end : newline
    const line = trimSpan(text, at, end)
    // Indentation belongs to code, so only the passage that starts with the line goes without it.
    if (line.end > line.start) {
      add(line, at === block.start ? weight : blank ? BREAK_WEIGHT.sentence : weight)
      weight = BREAK_WEIGHT.codeLine
      blank = false
    } else blank = true
    at = end + 1
  }
}

/** A page's end is a good end for a passage where a sentence ends with it. */
function weightPageBreaks(text: string, pages: ParsedDocument['pages'], atoms: Segment[]): void {
  let page = 0
  if (pages.length < 2) return
  for (let index = 0; index < atoms.length; index++) {
    const previous = atoms[index - 1]
    const atom = atoms[index] as Segment
    const before = page
    while ((pages[page + 1]?.start ?? Number.POSITIVE_INFINITY) <= atom.start) page++
    if (page === before || !previous) continue
    if (previous.kind === 'prose' && !/[.!?…:。！？]["'”’)\]]?$/.test(text.slice(previous.end - 3, previous.end))) {
      if (atom.kind === 'prose') atom.weight = Math.min(atom.weight, BREAK_WEIGHT.line)
    } else atom.weight = Math.max(atom.weight, BREAK_WEIGHT.page)
  }
}

/** What follows a heading stays with it, and so does a heading below it. */
function glueHeadings(atoms: Segment[]): void {
  for (let index = 1; index < atoms.length; index++) {
    const previous = atoms[index - 1] as Segment
    const atom = atoms[index] as Segment
    if (previous.kind === 'heading' && (atom.kind !== 'heading' || atom.section === previous.section || atom.weight < previous.weight))
      atom.weight = BREAK_WEIGHT.glue
  }
}

function* packSegments(
  text: string,
  atoms: readonly Segment[],
  { size, overlap }: ChunkingSettings,
): Generator<Span & { section: number }> {
  // More overlap than half a passage would say everything twice and more.
  const most = Math.min(overlap, Math.floor(size / 2))
  let start = atoms[0]?.start ?? 0
  for (let first = 0; first < atoms.length; ) {
    const next = findBestEnd(atoms, first, start, size)
    const end = (atoms[next - 1] as Segment).end
    yield { start, end, section: (atoms[first] as Segment).section }
    if (next < atoms.length) start = findOverlapStart(text, atoms, next, { start, end }, { size, overlap: most })
    first = next
  }
}

/** The piece before which the passage that begins at `start` with piece `first` ends best. */
function findBestEnd(atoms: readonly Segment[], first: number, start: number, size: number): number {
  let best = first + 1
  let bestScore = Number.NEGATIVE_INFINITY
  for (let next = first + 1; next <= atoms.length; next++) {
    const fill = ((atoms[next - 1] as Segment).end - start) / size
    if (fill > 1) break
    const score = (atoms[next]?.weight ?? BREAK_WEIGHT.end) + fill - (fill < MIN_FILL ? 1.5 : 0)
    if (score >= bestScore) [best, bestScore] = [next, score]
  }
  return best
}

/** Where the passage with piece `next` starts: back by the overlap, at a sentence if there is one, else at a word. */
function findOverlapStart(
  text: string,
  atoms: readonly Segment[],
  next: number,
  previous: Span,
  { size, overlap }: ChunkingSettings,
): number {
  const atom = atoms[next] as Segment
  const room = Math.min(overlap, size - (atom.end - previous.end))
  if (room <= 0 || atom.kind === 'heading' || atom.weight >= BREAK_WEIGHT.page) return atom.start
  const floor = Math.max(previous.end - room, previous.start + 1)
  let [sentence, piece] = [atom.start, atom.start]
  let at = next - 1
  for (; at >= 0; at--) {
    const before = atoms[at] as Segment
    if (before.start < floor || before.section !== atom.section || before.kind === 'heading') break
    piece = before.start
    if (before.weight >= BREAK_WEIGHT.sentence) sentence = before.start
  }
  if (sentence < atom.start) return sentence
  const straddling = atoms[at]
  if (atom.kind !== 'prose' || !straddling || straddling.kind !== 'prose' || straddling.section !== atom.section || straddling.end <= floor)
    return piece
  const word = findWordStart(text, alignToCharacter(text, floor - 1, floor + 1), Math.min(straddling.end, previous.end))
  return word >= floor && word < straddling.end ? word : piece
}
