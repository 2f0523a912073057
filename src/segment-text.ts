/** Segments long text with Intl.Segmenter in linear time. */

/** Shorter than any text that must be segmented as a whole, such as a passage. */
const MAX_PIECE_LENGTH = 4_096

/** Segments the text in pieces: in Node 20, each segment costs a copy of the whole text. */
export function* segmentText(segmenter: Intl.Segmenter, text: string): Generator<Intl.SegmentData> {
  for (let start = 0; start < text.length; ) {
    const piece = text.slice(start, start + MAX_PIECE_LENGTH)
    let last: Intl.SegmentData | undefined
    for (const segment of segmenter.segment(piece)) {
      if (last) yield last
      last = segment
    }
    if (!last) return
    // The last segment may continue in the next piece. One as long as a piece is divided.
    const isDivided = last.index === 0 || start + piece.length === text.length
    if (isDivided) yield last
    start += isDivided ? piece.length : last.index
  }
}
