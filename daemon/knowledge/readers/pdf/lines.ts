/** Joins the text items of a PDF page to lines, in drawing order. */

export interface TextItem {
  str: string
  dir: string
  width: number
  height: number
  /** Scale and position: [a, b, c, d, x, y]. */
  transform: number[]
  hasEOL: boolean
}

export interface Line {
  text: string
  x: number
  y: number
  right: number
  size: number
}

export interface PdfPage {
  lines: Line[]
  bottom: number
  top: number
}

export function buildLines(items: readonly TextItem[]): Line[] {
  const lines: Line[] = []
  let line: OpenLine | undefined
  const endLine = () => {
    // Right-to-left text may be drawn from the left.
    if (line?.rightToLeft) line.parts.sort((a, b) => b.x - a.x)
    const text = line?.parts
      .map((part) => part.text)
      .join(line.rightToLeft ? ' ' : '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(LIGATURES, (letters) => letters.normalize('NFKC'))
      .trim()
    if (line && text) lines.push({ text, x: line.x, y: line.y, right: line.right, size: line.size })
    line = undefined
  }
  for (const item of items) {
    const [a = 0, b = 0, , , x = 0, y = 0] = item.transform
    const size = Math.hypot(a, b) || item.height
    if (line && item.str !== '' && !isSameLine(line, item, x, y, size)) endLine()
    if (item.str !== '') {
      if (!line)
        line = { parts: [], x, y, right: x, size, characters: 0, rightToLeft: item.dir === 'rtl', upright: Math.abs(b) < Math.abs(a) }
      else if (hasGap(line, item, x)) line.parts.push({ x, text: ' ' })
      line.parts.push({ x, text: item.str })
      // The size of a line is that of its longest item, not of a superscript.
      if (item.str.trim().length > line.characters) {
        line.size = size
        line.characters = item.str.trim().length
      }
      line.right = Math.max(line.right, x + item.width)
      line.x = Math.min(line.x, x)
    }
    if (item.hasEOL) endLine()
  }
  endLine()
  return lines
}

/** Ligatures and Arabic presentation forms. */
const LIGATURES = /[\ufb00-\ufdff\ufe70-\ufefc]+/g

interface OpenLine {
  parts: { x: number; text: string }[]
  x: number
  y: number
  right: number
  size: number
  characters: number
  rightToLeft: boolean
  upright: boolean
}

/** Superscripts and subscripts stay on the line; items that start lower or far to the left do not. */
function isSameLine(line: OpenLine, item: TextItem, x: number, y: number, size: number): boolean {
  if (!line.upright || item.dir === 'rtl') return true
  const height = Math.max(line.size, size, 1)
  return Math.abs(y - line.y) < height * 0.6 && (line.rightToLeft || x > line.x - height)
}

function hasGap(line: OpenLine, item: TextItem, x: number): boolean {
  const last = line.parts.at(-1)?.text ?? ''
  if (last.endsWith(' ') || item.str.startsWith(' ') || line.rightToLeft || !line.upright) return false
  return x - line.right > Math.max(line.size, 1) * 0.15
}
