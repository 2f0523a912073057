/** The stored form of the headings above a passage, outermost first. */

const SEPARATOR = ' › '

export const joinHeadings = (headings: readonly string[]): string => headings.join(SEPARATOR)

export const splitHeadings = (text: string): string[] => (text === '' ? [] : text.split(SEPARATOR))
