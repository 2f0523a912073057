/** New identifiers: a prefix that says what it is, and a UUIDv7 that sorts by time. */
import { uuidv7 } from 'uuidv7'

export const newId = (prefix: string): string => `${prefix}_${uuidv7()}`
