/** A tolerant HTML and XML tokenizer: linear time for any input, no expansion of custom entities, no external resources. */
import { decodeHTML, decodeHTMLAttribute } from 'entities'

interface MarkupHandler {
  /** Elements of XML that are left out with all that they contain. */
  skipped?: ReadonlySet<string>
  /** `isSelfClosing`: the tag ends with a slash. */
  open(name: string, attributes: string, isSelfClosing: boolean): void
  close?(name: string): void
  text?(text: string): void
}

/** Elements whose content is not markup. Only the content of a title is reported as text. */
const RAW_TEXT_ELEMENTS = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes'])
const TAG_NAME = /[A-Za-z_][^\s/>]*/y

/** Removes the namespace prefix of an element or attribute. */
export const getLocalName = (name: string): string => name.slice(name.indexOf(':') + 1)

/** The names of `html` are in lower case, those of `office` have no prefix. */
export function walkMarkup(source: string, kind: 'html' | 'xml' | 'office', handler: MarkupHandler): void {
  const search = new CachedSearch(source)
  let textStart = 0
  let skipDepth = 0
  const emitText = (end: number) => {
    if (end > textStart && skipDepth === 0) handler.text?.(decodeHTML(source.slice(textStart, end)))
  }
  for (let index = source.indexOf('<'); index >= 0; index = source.indexOf('<', index)) {
    const next = source.charCodeAt(index + 1)
    if (next === 0x21 || next === 0x3f) {
      const section = source.startsWith('<![CDATA[', index) ? search.find(']]>', index) : -1
      emitText(index)
      if (section >= 0 && skipDepth === 0) handler.text?.(source.slice(index + 9, section))
      textStart = index = section >= 0 ? section + 3 : findDeclarationEnd(source, search, index)
      continue
    }
    const isClosing = next === 0x2f
    TAG_NAME.lastIndex = index + (isClosing ? 2 : 1)
    const rawName = TAG_NAME.exec(source)?.[0]
    if (rawName === undefined) {
      index++
      continue
    }
    const nameEnd = TAG_NAME.lastIndex
    const end = findTagEnd(source, search, nameEnd)
    // An unterminated tag is text, and so is everything after it.
    if (end < 0) break
    emitText(index)
    const name = kind === 'html' ? rawName.toLowerCase() : kind === 'office' ? getLocalName(rawName) : rawName
    textStart = index = end + 1
    if (isClosing) {
      if (skipDepth > 0) skipDepth--
      else handler.close?.(name)
      continue
    }
    const isSelfClosing = source.charCodeAt(end - 1) === 0x2f
    if (skipDepth > 0 || handler.skipped?.has(name)) {
      if (!isSelfClosing) skipDepth++
      continue
    }
    handler.open(name, source.slice(nameEnd, isSelfClosing ? end - 1 : end), isSelfClosing)
    if (kind === 'html' && RAW_TEXT_ELEMENTS.has(name)) {
      const rest = search.findRawTextEnd(name, index)
      if (name === 'title') handler.text?.(decodeHTML(source.slice(index, rest)))
      textStart = index = rest
    }
  }
  emitText(source.length)
}

/** Remembers strings that do not occur any more, so that repeated searches stay linear. */
class CachedSearch {
  readonly #source: string
  readonly #absent = new Set<string>()

  constructor(source: string) {
    this.#source = source
  }

  find(text: string, from: number): number {
    if (this.#absent.has(text)) return -1
    const index = this.#source.indexOf(text, from)
    if (index < 0) this.#absent.add(text)
    return index
  }

  findRawTextEnd(name: string, from: number): number {
    const end = new RegExp(`</${name}`, 'gi')
    end.lastIndex = from
    return end.exec(this.#source)?.index ?? this.#source.length
  }
}

/** Returns the end of a comment, doctype or processing instruction. */
function findDeclarationEnd(source: string, search: CachedSearch, index: number): number {
  if (source.startsWith('<!--', index)) {
    const end = search.find('-->', index + 4)
    if (end >= 0) return end + 3
  }
  const end = search.find('>', index)
  if (end < 0) return source.length
  const subset = source.slice(index, Math.min(end, index + 2_000)).indexOf('[')
  if (subset < 0 || !/^<!doctype/i.test(source.slice(index, index + 9))) return end + 1
  const subsetEnd = search.find(']>', index + subset)
  return subsetEnd < 0 ? end + 1 : subsetEnd + 2
}

/** Returns the index of the first > outside of a quoted attribute value, or -1. */
function findTagEnd(source: string, search: CachedSearch, from: number): number {
  let isAfterEquals = false
  for (let index = from; index < source.length; index++) {
    const code = source.charCodeAt(index)
    if (code === 0x3e) return index
    if (isAfterEquals && (code === 0x22 || code === 0x27)) {
      const quote = search.find(code === 0x22 ? '"' : "'", index + 1)
      if (quote > 0) index = quote
      isAfterEquals = false
    } else if (code === 0x3d) isAfterEquals = true
    else if (code > 0x20) isAfterEquals = false
  }
  return -1
}

export function parseAttributes(source: string): Map<string, string> {
  const attributes = new Map<string, string>()
  if (!/\S/.test(source)) return attributes
  for (const [, name = '', double, single, bare] of source.matchAll(/([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)) {
    if (!attributes.has(name)) attributes.set(name, decodeHTMLAttribute(double ?? single ?? bare ?? ''))
  }
  return attributes
}
