/** Removes characters with which a server could hide text from the people who approve it, or control a terminal. */

/** Control characters except tab and newline, bidirectional controls, zero-width characters, tags and lone surrogates. */
const HIDDEN = new RegExp(
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb' +
    '\\u{e0000}-\\u{e0fff}]|\\p{Surrogate}',
  'gu',
)

export const cleanText = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(HIDDEN, '')

/** Cleans the names and the text in a JSON value. */
export function cleanValue(value: unknown): unknown {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(cleanValue)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [cleanText(name), cleanValue(part)]))
}
