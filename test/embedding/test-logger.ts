/** A logger that keeps its entries. */
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
  const add = (details: object, message: string) => void entries.push({ details, message })
  return { debug: add, warn: add, entries }
}
