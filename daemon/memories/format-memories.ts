/** Formats memories for models, as data between tags. */
import type { StoredMemory } from './store.ts'

const SHORT_ID_LENGTH = 8

/** The end of an id, which is random. */
export const getShortId = ({ id }: Pick<StoredMemory, 'id'>): string => id.slice(-SHORT_ID_LENGTH)

export const formatMemory = (memory: StoredMemory): string =>
  `- ${memory.content.replaceAll(/\s+/g, ' ')} (id ${getShortId(memory)}, ${memory.updated_at.slice(0, 10)})`
