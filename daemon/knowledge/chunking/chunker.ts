/** Cuts a document into passages that respect its structure, with exact spans into its text. */

import type { ParsedDocument } from '../readers/parsed-document.ts'
import { type Atom, cutSpan, type Span, sentencesOf, trimmed, WEIGHT, wholeCharacter, wordStart } from './atoms.ts'
import { type Block, structureOf } from './blocks.ts'
import { indexWords } from './tokenize.ts'

export interface Chunk {
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

export interface ChunkSettings {
  size: number
  overlap: number
}

/** A passage this empty is only cut off when nothing else fits. */
const LEAST_FILL = 0.15

export function chunkDocument(document: ParsedDocument, settings: ChunkSettings): Chunk[] {
  const { text, pages } = document
  const { blocks, paths } = structureOf(document)
  const atoms = atomsOf(document, blocks, settings.size)
  const chunks: Chunk[] = []
  let page = 0
  for (const { start, end, section } of pack(text, atoms, settings)) {
    while ((pages[page + 1]?.start ?? Number.POSITIVE_INFINITY) <= start) page++
    const content = text.slice(start, end)
    const headings = paths[section] ?? []
    const above = headings.filter((heading) => !content.includes(heading)).join(' ')
    const words = above === '' ? indexWords(content) : `${indexWords(above)} ${indexWords(content)}`
    chunks.push({ content, start, end, page: pages[page]?.number ?? 1, headings, position: chunks.length, words })
  }
  return chunks
}

/** The pieces of all blocks, none longer than a passage, and long ones short enough to leave room for overlap. */
function atomsOf({ text, pages }: ParsedDocument, blocks: readonly Block[], size: number): Atom[] {
  const atoms: Atom[] = []
  const add = ({ section, kind }: Block, span: Span, weight: number, most: number) => {
    const { start, end } = span
    if (end <= start) return
    if (end - start <= most) {
      atoms.push({ start, end, weight, section, kind })
      return
    }
    for (const [index, part] of cutSpan(text, span, Math.max(1, Math.floor(size / 4))).entries()) {
      atoms.push({ start: part.start, end: part.end, weight: index === 0 ? weight : part.weight, section, kind })
    }
  }
  for (const block of blocks) {
    if (block.kind === 'prose') {
      let weight: number | undefined = block.weight
      for (const sentence of sentencesOf(text, block.start, block.end)) {
        add(block, sentence, weight ?? (sentence.whole ? WEIGHT.sentence : WEIGHT.line), size / 2)
        weight = undefined
      }
    } else if (block.end - block.start <= size && block.kind !== 'code')
      add(block, trimmed(text, block.start, block.end), block.weight, size)
    else addLines(text, block, (span, weight) => add(block, span, weight, size / 2))
  }
  weighPages(text, pages, atoms)
  glueHeadings(atoms)
  return atoms
}

function addLines(text: string, block: Block, add: (span: Span, weight: number) => void): void {
  let weight = block.weight
  let blank = false
  for (let at = block.start; at < block.end; ) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 || newline > block.end ? block.end : newline
    const line = trimmed(text, at, end)
    // Indentation belongs to code, so only the passage that starts with the line goes without it.
    if (line.end > line.start) {
      add(line, at === block.start ? weight : blank ? WEIGHT.sentence : weight)
      weight = WEIGHT.codeLine
      blank = false
    } else blank = true
    at = end + 1
  }
}

/** A page's end is a good end for a passage where a sentence ends with it. */
function weighPages(text: string, pages: ParsedDocument['pages'], atoms: Atom[]): void {
  let page = 0
  if (pages.length < 2) return
  for (let index = 0; index < atoms.length; index++) {
    const previous = atoms[index - 1]
    const atom = atoms[index] as Atom
    const before = page
    while ((pages[page + 1]?.start ?? Number.POSITIVE_INFINITY) <= atom.start) page++
    if (page === before || !previous) continue
    if (previous.kind === 'prose' && !/[.!?…:。！？]["'”’)\]]?$/.test(text.slice(previous.end - 3, previous.end))) {
      if (atom.kind === 'prose') atom.weight = Math.min(atom.weight, WEIGHT.line)
    } else atom.weight = Math.max(atom.weight, WEIGHT.page)
  }
}

/** What follows a heading stays with it, and so does a heading below it. */
function glueHeadings(atoms: Atom[]): void {
  for (let index = 1; index < atoms.length; index++) {
    const previous = atoms[index - 1] as Atom
    const atom = atoms[index] as Atom
    if (previous.kind === 'heading' && (atom.kind !== 'heading' || atom.section === previous.section || atom.weight < previous.weight))
      atom.weight = WEIGHT.glue
  }
}

function* pack(text: string, atoms: readonly Atom[], { size, overlap }: ChunkSettings): Generator<Span & { section: number }> {
  // More overlap than half a passage would say everything twice and more.
  const most = Math.min(overlap, Math.floor(size / 2))
  let start = atoms[0]?.start ?? 0
  for (let first = 0; first < atoms.length; ) {
    const next = bestEnd(atoms, first, start, size)
    const end = (atoms[next - 1] as Atom).end
    yield { start, end, section: (atoms[first] as Atom).section }
    if (next < atoms.length) start = overlapStart(text, atoms, next, { start, end }, { size, overlap: most })
    first = next
  }
}

/** The piece before which the passage that begins at `start` with piece `first` ends best. */
function bestEnd(atoms: readonly Atom[], first: number, start: number, size: number): number {
  let best = first + 1
  let bestScore = Number.NEGATIVE_INFINITY
  for (let next = first + 1; next <= atoms.length; next++) {
    const fill = ((atoms[next - 1] as Atom).end - start) / size
    if (fill > 1) break
    const score = (atoms[next]?.weight ?? WEIGHT.end) + fill - (fill < LEAST_FILL ? 1.5 : 0)
    if (score >= bestScore) [best, bestScore] = [next, score]
  }
  return best
}

/** Where the passage with piece `next` starts: back by the overlap, at a sentence if there is one, else at a word. */
function overlapStart(text: string, atoms: readonly Atom[], next: number, previous: Span, { size, overlap }: ChunkSettings): number {
  const atom = atoms[next] as Atom
  const room = Math.min(overlap, size - (atom.end - previous.end))
  if (room <= 0 || atom.kind === 'heading' || atom.weight >= WEIGHT.page) return atom.start
  const floor = Math.max(previous.end - room, previous.start + 1)
  let [sentence, piece] = [atom.start, atom.start]
  let at = next - 1
  for (; at >= 0; at--) {
    const before = atoms[at] as Atom
    if (before.start < floor || before.section !== atom.section || before.kind === 'heading') break
    piece = before.start
    if (before.weight >= WEIGHT.sentence) sentence = before.start
  }
  if (sentence < atom.start) return sentence
  const straddling = atoms[at]
  if (atom.kind !== 'prose' || !straddling || straddling.kind !== 'prose' || straddling.section !== atom.section || straddling.end <= floor)
    return piece
  const word = wordStart(text, wholeCharacter(text, floor - 1, floor + 1), Math.min(straddling.end, previous.end))
  return word >= floor && word < straddling.end ? word : piece
}
