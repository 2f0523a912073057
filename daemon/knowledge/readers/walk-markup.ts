/** Walks HTML or XML tag by tag, forgiving and in linear time whatever the input, without expanding entities or fetching anything. */
import { decodeEntities } from './entities.ts'

export interface MarkupHandler {
  open(name: string, attributes: string, closed: boolean): void
  close(name: string): void
  text(text: string): void
}

/** Elements whose content is no markup; only a title's is text. */
const RAW_TEXT_ELEMENTS = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes'])
const TAG_NAME = /[A-Za-z_][^\s/>]*/y

export function walkMarkup(source: string, handler: MarkupHandler, kind: 'html' | 'xml'): void {
  const search = new CachedSearch(source)
  let from = 0
  const tell = (to: number) => {
    if (to > from) handler.text(decodeEntities(source.slice(from, to)))
  }
  for (let at = source.indexOf('<'); at >= 0; at = source.indexOf('<', at)) {
    const next = source.charCodeAt(at + 1)
    if (next === 0x21 || next === 0x3f) {
      const section = source.startsWith('<![CDATA[', at) ? search.find(']]>', at) : -1
      tell(at)
      if (section >= 0) handler.text(source.slice(at + 9, section))
      from = at = section >= 0 ? section + 3 : findDeclarationEnd(source, search, at)
      continue
    }
    const closing = next === 0x2f
    TAG_NAME.lastIndex = at + (closing ? 2 : 1)
    const written = TAG_NAME.exec(source)?.[0]
    if (written === undefined) {
      at++
      continue
    }
    const nameEnd = TAG_NAME.lastIndex
    const end = findTagEnd(source, search, nameEnd)
    // A tag that never ends is text, and so is all behind it.
    if (end < 0) break
    tell(at)
    const name = kind === 'html' ? written.toLowerCase() : written
    from = at = end + 1
    if (closing) {
      handler.close(name)
      continue
    }
    const closed = source.charCodeAt(end - 1) === 0x2f
    handler.open(name, source.slice(nameEnd, closed ? end - 1 : end), closed)
    if (kind === 'html' && RAW_TEXT_ELEMENTS.has(name)) {
      const rest = search.findRawTextEnd(name, at)
      if (name === 'title') handler.text(decodeEntities(source.slice(at, rest)))
      from = at = rest
    }
  }
  tell(source.length)
}

/** Remembers what is not found any more, so that looking for it again and again costs nothing. */
class CachedSearch {
  readonly #source: string
  readonly #absent = new Set<string>()

  constructor(source: string) {
    this.#source = source
  }

  find(text: string, from: number): number {
    if (this.#absent.has(text)) return -1
    const found = this.#source.indexOf(text, from)
    if (found < 0) this.#absent.add(text)
    return found
  }

  findRawTextEnd(name: string, from: number): number {
    const end = new RegExp(`</${name}`, 'gi')
    end.lastIndex = from
    return end.exec(this.#source)?.index ?? this.#source.length
  }
}

/** Where a comment, a document type or a processing instruction ends. */
function findDeclarationEnd(source: string, search: CachedSearch, at: number): number {
  if (source.startsWith('<!--', at)) {
    const end = search.find('-->', at + 4)
    if (end >= 0) return end + 3
  }
  const end = search.find('>', at)
  if (end < 0) return source.length
  const subset = source.slice(at, Math.min(end, at + 2_000)).indexOf('[')
  if (subset < 0 || !/^<!doctype/i.test(source.slice(at, at + 9))) return end + 1
  const subsetEnd = search.find(']>', at + subset)
  return subsetEnd < 0 ? end + 1 : subsetEnd + 2
}

/** Where a tag ends: at the first > outside the quoted value of an attribute. */
function findTagEnd(source: string, search: CachedSearch, from: number): number {
  let equals = false
  for (let at = from; at < source.length; at++) {
    const code = source.charCodeAt(at)
    if (code === 0x3e) return at
    if (equals && (code === 0x22 || code === 0x27)) {
      const quote = search.find(code === 0x22 ? '"' : "'", at + 1)
      if (quote > 0) at = quote
      equals = false
    } else if (code === 0x3d) equals = true
    else if (code > 0x20) equals = false
  }
  return -1
}

/** The attributes of a tag by name. */
export function parseAttributes(written: string): Map<string, string> {
  const found = new Map<string, string>()
  if (!/\S/.test(written)) return found
  for (const [, name = '', double, single, bare] of written.matchAll(/([^\s=/"'<>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g)) {
    if (!found.has(name)) found.set(name, decodeEntities(double ?? single ?? bare ?? ''))
  }
  return found
}
