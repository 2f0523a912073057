/** Splits RTF into groups, control words and text, in linear time. */

interface RtfHandler {
  openGroup(): void
  closeGroup(): void
  /** A control word such as \b0, or a symbol such as \~. */
  control(word: string, parameter: number | undefined): void
  /** Text in the encoding of the document, one character per byte. */
  text(bytes: string): void
}

const CONTROL_WORD = /([a-zA-Z]{1,32})(-?\d{1,10})? ?/y
const TEXT = /[^\\{}\r\n]+/y

/** `source` has one character per byte. */
export function walkRtf(source: string, handler: RtfHandler): void {
  for (let index = 0; index < source.length; ) {
    const character = source[index]
    if (character === '{' || character === '}') {
      if (character === '{') handler.openGroup()
      else handler.closeGroup()
      index++
    } else if (character === '\\') index = readControl(source, index + 1, handler)
    else if (character === '\r' || character === '\n') index++
    else {
      TEXT.lastIndex = index
      const text = TEXT.exec(source)?.[0] ?? ''
      handler.text(text)
      index += text.length
    }
  }
}

function readControl(source: string, index: number, handler: RtfHandler): number {
  CONTROL_WORD.lastIndex = index
  const match = CONTROL_WORD.exec(source)
  if (match) {
    const [whole, word = '', parameter] = match
    const number = parameter === undefined ? undefined : Number(parameter)
    handler.control(word, number)
    // Binary data follows.
    return index + whole.length + (word === 'bin' ? Math.max(0, number ?? 0) : 0)
  }
  if (source[index] === "'") {
    const code = Number.parseInt(source.slice(index + 1, index + 3), 16)
    if (!Number.isNaN(code)) handler.text(String.fromCharCode(code))
    return index + 3
  }
  // A newline after a backslash ends the paragraph.
  const symbol = source[index] ?? ''
  handler.control(symbol === '\r' || symbol === '\n' ? 'par' : symbol, undefined)
  return index + 1
}
