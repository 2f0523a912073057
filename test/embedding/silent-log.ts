/** A log that nobody reads but the test. */
export interface Entry {
  details: object
  message: string
}

export function silentLog(): {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
  entries: Entry[]
} {
  const entries: Entry[] = []
  const note = (details: object, message: string) => void entries.push({ details, message })
  return { debug: note, warn: note, entries }
}
