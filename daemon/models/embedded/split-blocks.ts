/** Splits a passage of Markdown or plain text into blocks. Passages can start and end anywhere, even inside code. */

export interface Block {
  kind: 'heading' | 'text' | 'item' | 'row' | 'code'
  /** Source text; code without its fences. */
  raw: string
  /** For code: the info string of its fence. */
  language: string
  /** False for code that the passage contains only in part. */
  isComplete: boolean
}

const FENCE = /^\s*(?:```|~~~)\s*(\S*)/
const HEADING = /^ {0,3}#{1,6}\s/
const ITEM = /^\s*(?:[-*+]|\d{1,4}[.)])\s/
const ROW = /^\s*\|/
/** Delimiter rows of tables and thematic breaks. */
const RULE = /^[\s|:*_-]{3,1000}$/

export function splitBlocks(content: string): Block[] {
  const lines = content.split('\n')
  const blocks: Block[] = []
  let open: Block | undefined
  const startsInCode = isCutCode(lines)
  let isCode = startsInCode
  const openBlock = (kind: Block['kind'], line: string, language = '') => {
    open = { kind, raw: line, language, isComplete: kind !== 'code' }
    blocks.push(open)
  }
  if (isCode) openBlock('code', '')
  for (const line of lines) {
    const [fence, language = ''] = FENCE.exec(line) ?? []
    if (fence !== undefined) {
      if (isCode && open) open.isComplete = !startsInCode || open !== blocks[0]
      isCode = !isCode
      if (isCode) openBlock('code', '', language.toLowerCase())
      else open = undefined
    } else if (isCode && open) open.raw += open.raw === '' ? line : `\n${line}`
    else if (line.trim() === '') open = undefined
    else if (RULE.test(line)) {
      // The row above is the header of a table, which is useless on its own.
      if (open?.kind === 'row') blocks.pop()
      open = undefined
    } else if (HEADING.test(line)) {
      openBlock('heading', line)
      open = undefined
    } else if (ROW.test(line)) openBlock('row', line)
    else if (ITEM.test(line)) openBlock('item', line)
    else if (open && open.kind !== 'row') open.raw += `\n${line}`
    else openBlock('text', line)
  }
  return blocks.filter(({ raw }) => raw.trim() !== '')
}

/** The first fence closes code then, so it has no info string. */
function isCutCode(lines: readonly string[]): boolean {
  const fences = lines.filter((line) => FENCE.test(line))
  return fences.length % 2 === 1 && FENCE.exec(fences[0] as string)?.[1] === ''
}

/** Removes Markdown syntax, but not inside words and code. */
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
