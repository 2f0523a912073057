export interface ChunkingSettings {
  /** Longest passage, in characters. */
  size: number
  /** Characters of a passage that the next passage of the same section repeats. */
  overlap: number
}

/** Increased when readers or chunking create other passages from the same document. Indexes of older versions are rebuilt. */
export const CHUNKING_VERSION = 4
