/** Generates identifiers: a prefix for the kind of resource and a UUIDv7, which sorts by time. */
import { uuidv7 } from 'uuidv7'

/** Within a millisecond the library counts up, so that later identifiers sort later. */
export const generateId = (prefix: string): string => `${prefix}_${uuidv7()}`
