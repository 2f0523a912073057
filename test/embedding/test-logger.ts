/** A log that nobody reads but the test. */
export interface LogEntry {
  details: object
  message: string
}

export function createTestLogger(): {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
  entries: LogEntry[]
} {
  const entries: LogEntry[] = []
  const note = (details: object, message: string) => void entries.push({ details, message })
  return { debug: note, warn: note, entries }
}
