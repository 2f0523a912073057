/** Terminal colors, controlled by --no-color, NO_COLOR, FORCE_COLOR and whether the stream is a terminal. */
import { sanitizeText } from './text.ts'

const CODES = { bold: [1, 22], dim: [2, 22], red: [31, 39], green: [32, 39], yellow: [33, 39], cyan: [36, 39] } as const
export type Color = keyof typeof CODES

export function supportsColor(stream: NodeJS.WriteStream): boolean {
  const { NO_COLOR, FORCE_COLOR } = process.env
  if (process.argv.includes('--no-color') || NO_COLOR) return false
  if (FORCE_COLOR !== undefined) return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false'
  return canRedraw(stream)
}

export function canRedraw(stream: NodeJS.WriteStream): boolean {
  return stream.isTTY === true && process.env.TERM !== 'dumb'
}

/** Whether the terminal has block characters; a dumb one may only have ASCII, and a screen reader spells blocks out. */
export const supportsBlocks = (): boolean => process.env.TERM !== 'dumb'

export function paint(color: Color, text: string, stream: NodeJS.WriteStream = process.stderr): string {
  if (text === '' || !supportsColor(stream)) return text
  const [on, off] = CODES[color]
  return `\u001b[${on}m${text}\u001b[${off}m`
}

const OWN_CODES = new RegExp(`(\u001b\\[(?:${Object.values(CODES).flat().join('|')})m)`)

/** Sanitizes a message that may contain data, but keeps our own color codes. */
export function stripControlSequences(line: string): string {
  return line
    .split(OWN_CODES)
    .map((part, index) => (index % 2 === 1 ? part : sanitizeText(part)))
    .join('')
}
