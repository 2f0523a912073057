/** Derives the title of a conversation from its first message. */

const MAX_TITLE_LENGTH = 80

/** The first line, truncated at a word boundary. */
export function deriveTitle(message: string): string {
  const [firstLine = ''] = message.trim().split(/\r\n|\r|\n/)
  const line = firstLine.replaceAll(/\s+/g, ' ').trim()
  if (line.length <= MAX_TITLE_LENGTH) return line
  const cut = line.slice(0, MAX_TITLE_LENGTH - 1)
  const space = cut.lastIndexOf(' ')
  return `${(space > MAX_TITLE_LENGTH / 2 ? cut.slice(0, space) : cut).toWellFormed()}…`
}
