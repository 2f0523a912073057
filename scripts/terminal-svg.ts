/** Renders the screen of a terminal as a self-contained SVG. */

const CELL = { width: 8.4, height: 18 }
const MARGIN = { x: 18, top: 44, bottom: 16 }
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace'
/** Fixed colors are readable on light and dark pages. */
const BACKGROUND = '#161b22'
const FOREGROUND = '#e6edf3'
const BORDER = '#57606a'
const COLORS: Record<number, string> = {
  31: '#ff7b72',
  32: '#7ee787',
  33: '#e3b341',
  34: '#79c0ff',
  35: '#d2a8ff',
  36: '#76e3ea',
  90: '#8b949e',
}

interface Style {
  bold: boolean
  dim: boolean
  color: number | undefined
}
interface Run extends Style {
  text: string
  column: number
}

const PLAIN: Style = { bold: false, dim: false, color: undefined }

/** Applies an SGR code to a style. */
function applyCode(style: Style, code: number): Style {
  if (code === 0) return PLAIN
  if (code === 1) return { ...style, bold: true }
  if (code === 2) return { ...style, dim: true }
  if (code === 22) return { ...style, bold: false, dim: false }
  if (code === 39) return { ...style, color: undefined }
  return code in COLORS ? { ...style, color: code } : style
}

/** Splits each line into runs of one style; styles last across lines. */
export function parseRuns(screen: string): Run[][] {
  let style = PLAIN
  return screen.split('\n').map((line) => {
    const runs: Run[] = []
    let column = 0
    // Removes other sequences, such as changes of the character set.
    for (const [, codes, text] of line.replace(/\u000e|\u000f|\u001b[()][A-Z0-9]/g, '').matchAll(/\u001b\[([\d;]*)m|([^\u001b]+)/g)) {
      if (text === undefined) for (const code of (codes || '0').split(';')) style = applyCode(style, Number(code))
      else {
        if (text.trim() !== '') runs.push({ ...style, text, column })
        column += [...text].length
      }
    }
    return runs
  })
}

const escapeXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** Trims the run: SVG would drop spaces at its ends. */
function renderRun({ text, column, bold, dim, color }: Run, y: number): string {
  const lead = text.length - text.trimStart().length
  const letters = text.trim()
  const x = MARGIN.x + (column + lead) * CELL.width
  const style = [
    bold ? ' font-weight="700"' : '',
    dim ? ' opacity="0.65"' : '',
    color === undefined ? '' : ` fill="${COLORS[color]}"`,
  ].join('')
  const length = ([...letters].length * CELL.width).toFixed(1)
  return `<text x="${x.toFixed(1)}" y="${y}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${style}>${escapeXml(letters)}</text>`
}

export function renderTerminalSvg(screen: string, { title, columns }: { title: string; columns: number }): string {
  const lines = parseRuns(screen)
  const width = Math.ceil(columns * CELL.width + 2 * MARGIN.x)
  const height = MARGIN.top + lines.length * CELL.height + MARGIN.bottom
  const texts = lines.flatMap((runs, row) => runs.map((run) => renderRun(run, MARGIN.top + (row + 1) * CELL.height - 5)))
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map((fill, index) => `<circle cx="${22 + index * 20}" cy="22" r="6" fill="${fill}"/>`)
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>${escapeXml(title)}</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10" fill="${BACKGROUND}" stroke="${BORDER}"/>
${dots.join('')}
<g font-family='${FONT}' font-size="14" fill="${FOREGROUND}" xml:space="preserve">
${texts.join('\n')}
</g>
</svg>
`
}
