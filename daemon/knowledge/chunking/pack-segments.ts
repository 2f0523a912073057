/** Packs the segments of a section into passages that end at good places and overlap. */
import type { ChunkingSettings } from './chunking-settings.ts'
import { alignToCharacter, BREAK_WEIGHT, findWordStart, type Segment, type TextRange } from './segments.ts'

/** A passage with less text is only created if nothing else fits. */
const MIN_FILL = 0.15
const SHORT_PASSAGE_PENALTY = 1.5
/** Smaller: a short last passage also contains the overlap. */
const SHORT_REST_PENALTY = 0.5

export function* packSegments(text: string, segments: readonly Segment[], { size, overlap }: ChunkingSettings): Generator<TextRange> {
  // With more overlap than half a passage, all text would be repeated at least once.
  const maxOverlap = Math.min(overlap, Math.floor(size / 2))
  let start = segments[0]?.start ?? 0
  for (let first = 0; first < segments.length; ) {
    const next = findBestEnd(segments, first, start, size)
    const end = (segments[next - 1] as Segment).end
    yield { start, end }
    if (next < segments.length) start = findOverlapStart(text, segments, next, { start, end }, { size, overlap: maxOverlap })
    first = next
  }
}

/** Returns the index of the segment before which the passage that starts with segment `first` ends best. */
function findBestEnd(segments: readonly Segment[], first: number, start: number, size: number): number {
  const groupEnd = (segments.at(-1) as Segment).end
  let best = first + 1
  let bestScore = Number.NEGATIVE_INFINITY
  for (let next = first + 1; next <= segments.length; next++) {
    const end = (segments[next - 1] as Segment).end
    const fill = (end - start) / size
    if (fill > 1) break
    const rest = (groupEnd - end) / size
    const penalty = (fill < MIN_FILL ? SHORT_PASSAGE_PENALTY : 0) + (rest > 0 && rest < MIN_FILL ? SHORT_REST_PENALTY : 0)
    const score = (segments[next]?.weight ?? BREAK_WEIGHT.end) + fill - penalty
    if (score >= bestScore) [best, bestScore] = [next, score]
  }
  return best
}

/** Returns the start of the passage with segment `next`: back by the overlap, at a sentence if possible, else at a word. */
function findOverlapStart(
  text: string,
  segments: readonly Segment[],
  next: number,
  previous: TextRange,
  { size, overlap }: ChunkingSettings,
): number {
  const segment = segments[next] as Segment
  const room = Math.min(overlap, size - (segment.end - previous.end))
  if (room <= 0 || segment.kind === 'heading' || segment.weight >= BREAK_WEIGHT.page) return segment.start
  const floor = Math.max(previous.end - room, previous.start + 1)
  let [sentenceStart, segmentStart] = [segment.start, segment.start]
  let index = next - 1
  for (; index >= 0; index--) {
    const before = segments[index] as Segment
    if (before.start < floor || before.section !== segment.section || before.kind === 'heading') break
    segmentStart = before.start
    if (before.weight >= BREAK_WEIGHT.sentence) sentenceStart = before.start
  }
  // Half a comment would only mislead.
  if (sentenceStart < segment.start || segment.kind === 'setting') return sentenceStart
  const straddling = segments[index]
  if (
    segment.kind !== 'prose' ||
    !straddling ||
    straddling.kind !== 'prose' ||
    straddling.section !== segment.section ||
    straddling.end <= floor
  )
    return segmentStart
  const word = findWordStart(text, alignToCharacter(text, floor - 1, floor + 1), Math.min(straddling.end, previous.end))
  return word >= floor && word < straddling.end ? word : segmentStart
}
