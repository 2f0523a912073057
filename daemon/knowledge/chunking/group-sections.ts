/** Groups the segments of a document by section: a section with all its subsections if they fit into a passage, else each alone. */
import type { Segment } from './segments.ts'

export interface Section {
  /** Headings of the section, outermost first. */
  headings: string[]
  /** Index of the section that contains this one; -1 for the first section, which is the text before the first heading. */
  parent: number
}

interface SegmentGroup {
  segments: Segment[]
  /** Index of the outermost section of the text. */
  section: number
}

/** Shorter text before the first heading, such as a logo, is part of the first section. Relative to the size of a passage. */
const MIN_PREAMBLE = 0.15
/** The same for front matter, and for text without letters and digits. */
const MIN_FRONT_MATTER = 0.5

/** A document with more sections, which are all tiny, is data: its sections are put together into passages of normal size. */
const MAX_TINY_SECTIONS = 1_000
/** Average length of tiny sections, relative to the size of a passage. */
const TINY_SECTION = 0.125

/** Sections and segments are in document order, so that a section and all its subsections are adjacent. */
export function groupSections(
  text: string,
  segments: readonly Segment[],
  sections: readonly Section[],
  size: number,
): Iterable<SegmentGroup> {
  const groups = findGroups(text, segments, sections, size)
  const hasTinySections = sections.length > MAX_TINY_SECTIONS && text.length < sections.length * size * TINY_SECTION
  return hasTinySections ? joinGroups(groups, size) : groups
}

function* joinGroups(groups: Iterable<SegmentGroup>, size: number): Generator<SegmentGroup> {
  let joined: SegmentGroup | undefined
  for (const group of groups) {
    if (joined && measure([joined.segments[0] as Segment, group.segments.at(-1) as Segment]) <= size)
      joined.segments.push(...group.segments)
    else {
      if (joined) yield joined
      joined = group
    }
  }
  if (joined) yield joined
}

function* findGroups(text: string, segments: readonly Segment[], sections: readonly Section[], size: number): Generator<SegmentGroup> {
  const firstSegments = findFirstSegments(segments, sections.length)
  const sectionEnds = findSectionEnds(sections)
  /** Start of headings without text of their own, a logo or front matter: they belong to the next section. */
  let pending: number | undefined
  for (let section = 0; section < sections.length; ) {
    const first = pending ?? (firstSegments[section] as number)
    const ownEnd = firstSegments[section + 1] as number
    const sectionEnd = sectionEnds[section] as number
    const end = firstSegments[sectionEnd] as number
    const hasSubsections = sectionEnd > section + 1
    const own = segments.slice(firstSegments[section], ownEnd)
    const hasText = own.some((segment) => isText(text, segment))
    const isAlone = section > 0 ? hasText : measure(own) > size * (hasText ? MIN_PREAMBLE : MIN_FRONT_MATTER)
    // Sections of a document without text above them have no parent that holds them together.
    const canMerge = section > 0 || hasText || !hasSubsections
    if (canMerge && end > first && measure([segments[first] as Segment, segments[end - 1] as Segment]) <= size) {
      yield { segments: segments.slice(first, end), section }
      pending = undefined
      section = sectionEnd
    } else {
      if (isAlone || !hasSubsections) {
        if (ownEnd > first) yield { segments: segments.slice(first, ownEnd), section }
        pending = undefined
      } else pending = first
      section++
    }
  }
}

/** Returns the index of the first segment of each section, and the number of segments at the end. */
function findFirstSegments(segments: readonly Segment[], sectionCount: number): number[] {
  const firsts: number[] = []
  let next = 0
  for (let section = 0; section < sectionCount; section++) {
    while (next < segments.length && (segments[next] as Segment).section < section) next++
    firsts.push(next)
  }
  return [...firsts, segments.length]
}

/** Returns for each section the index after its last subsection, at any depth. */
function findSectionEnds(sections: readonly Section[]): number[] {
  const ends = sections.map((_, section) => section + 1)
  for (let section = sections.length - 1; section > 0; section--) {
    const { parent } = sections[section] as Section
    ends[parent] = Math.max(ends[parent] as number, ends[section] as number)
  }
  return ends
}

const measure = (segments: readonly Segment[]): number => (segments.at(-1)?.end ?? 0) - (segments[0]?.start ?? 0)

function isText(text: string, { kind, start, end }: Segment): boolean {
  return kind !== 'heading' && kind !== 'frontMatter' && /[\p{L}\p{N}]/u.test(text.slice(start, end))
}
