/** A passage of Markdown, or of plain text, as the blocks it consists of. It may begin and end anywhere, also in the middle of code. */

export interface Block {
  kind: 'heading' | 'text' | 'item' | 'row' | 'code'
  /** As it stands, code without its fences. */
  raw: string
  /** Of code: what stands behind its fence. */
  language: string
  /** False of code that the passage does not hold to both ends. */
  isComplete: boolean
}

const FENCE = /^\s*(?:```|~~~)\s*(\S*)/
const HEADING = /^ {0,3}#{1,6}\s/
const ITEM = /^\s*(?:[-*+]|\d{1,4}[.)])\s/
const ROW = /^\s*\|/
/** Between the head of a table and its rows, and lines across the page. */
const RULE = /^[\s|:*_-]{3,1000}$/

export function splitBlocks(content: string): Block[] {
  const lines = content.split('\n')
  const blocks: Block[] = []
  let open: Block | undefined
  const midway = beginsInCode(lines)
  let within = midway
  const begin = (kind: Block['kind'], line: string, language = '') => {
    open = { kind, raw: line, language, isComplete: kind !== 'code' }
    blocks.push(open)
  }
  if (within) begin('code', '')
  for (const line of lines) {
    const [fence, language = ''] = FENCE.exec(line) ?? []
    if (fence !== undefined) {
      if (within && open) open.isComplete = !midway || open !== blocks[0]
      within = !within
      if (within) begin('code', '', language.toLowerCase())
      else open = undefined
    } else if (within && open) open.raw += open.raw === '' ? line : `\n${line}`
    else if (line.trim() === '') open = undefined
    else if (RULE.test(line)) {
      // What stands above such a line is the head of a table, which says nothing by itself.
      if (open?.kind === 'row') blocks.pop()
      open = undefined
    } else if (HEADING.test(line)) {
      begin('heading', line)
      open = undefined
    } else if (ROW.test(line)) begin('row', line)
    else if (ITEM.test(line)) begin('item', line)
    else if (open && open.kind !== 'row') open.raw += `\n${line}`
    else begin('text', line)
  }
  return blocks.filter(({ raw }) => raw.trim() !== '')
}

/** Then the first fence is one that ends it, and no language stands behind it. */
function beginsInCode(lines: readonly string[]): boolean {
  const fences = lines.filter((line) => FENCE.test(line))
  return fences.length % 2 === 1 && FENCE.exec(fences[0] as string)?.[1] === ''
}

/** Text without the marks of Markdown. What is inside words and code stays, whatever it looks like. */
export function stripMarkdown(text: string): string {
  const kept: string[] = []
  const keep = (inner: string) => `\uE000${kept.push(inner) - 1}\uE001`
  return text
    .replaceAll(/[\uE000\uE001]/g, '')
    .replaceAll(/(?<!`)(`{1,3})(?!`)([^`]{1,1000})\1(?!`)/g, (_, _ticks, code: string) => keep(code.trim()))
    .replaceAll(/\\([\\`*_{}[\]()#+.!|-])/g, (_, sign: string) => keep(sign))
    .replaceAll(/(!?)\[([^[\]]{0,1000})\]\([^()\s]{0,1000}(?:\s"[^"]{0,200}")?\)/g, (_, image: string, link: string) => (image ? '' : link))
    .replaceAll(/(\*{1,3})(?=[^\s*])([^*]{1,1000})(?<=[^\s*])\1/g, '$2')
    .replaceAll(/(?<![\p{L}\p{N}_])(_{1,3})(?=[^\s_])((?:[^_]|(?<=\w)_(?=\w)){1,1000})(?<=[^\s_])\1(?![\p{L}\p{N}_])/gu, '$2')
    .replaceAll(/\uE000(\d+)\uE001/g, (_, at: string) => kept[Number(at)] as string)
    .replaceAll(/\s+/g, ' ')
    .trim()
}
