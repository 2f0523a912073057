/** Redacts all strings of a JSON value, including the names of its fields, and numbers that contain a secret. */

export function redactStrings<T>(value: T, redact: (text: string) => string): T {
  if (typeof value === 'string') return redact(value) as T
  if (typeof value === 'number') return (redact(String(value)) === String(value) ? value : redact(String(value))) as T
  if (Array.isArray(value)) return value.map((item) => redactStrings(item, redact)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [redact(name), redactStrings(field, redact)])) as T
}
