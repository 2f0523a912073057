/** Title and links of a page, found in one pass over its text: building a tree of a large page would hold up everything else. */

export interface PageLinks {
  title: string | undefined
  canonical: string | undefined
  /** What relative links are relative to, where the page says so. */
  base: string | undefined
  links: string[]
}

export const MAX_HTML_LENGTH = 2 * 1024 * 1024
const MAX_LINKS = 5_000
const MAX_ATTRIBUTES = 100
/** Their content is no markup. */
const RAW_TEXT_ELEMENTS = ['script', 'style', 'template', 'textarea', 'noembed', 'xmp']
const RELEVANT_TAG = `<(?:!--|(a|area|base|frame|link|meta|title|${RAW_TEXT_ELEMENTS.join('|')})(?=[\\s/>]))`
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }

export function extractLinks(page: string): PageLinks {
  const html = page.slice(0, MAX_HTML_LENGTH)
  const found: PageLinks = { title: undefined, canonical: undefined, base: undefined, links: [] }
  const telling = new RegExp(RELEVANT_TAG, 'gi')
  for (let match = telling.exec(html); match && found.links.length < MAX_LINKS; match = telling.exec(html)) {
    const tag = match[1]?.toLowerCase()
    if (tag === undefined) {
      const close = html.indexOf('-->', telling.lastIndex)
      if (close < 0) break
      telling.lastIndex = close
      continue
    }
    const { attributes, end } = parseAttributes(html, telling.lastIndex)
    recordTag(found, tag, attributes)
    telling.lastIndex = end
    if (tag !== 'title' && !RAW_TEXT_ELEMENTS.includes(tag)) continue
    const close = findClosingTag(html, tag, end)
    // Never closed, so the rest of the page is inside it.
    if (close < 0) break
    if (tag === 'title')
      found.title ??=
        decoded(html.slice(end, Math.min(close, end + 1_000)))
          .replaceAll(/\s+/g, ' ')
          .trim() || undefined
    telling.lastIndex = close
  }
  return found
}

function recordTag(found: PageLinks, tag: string, { href, src, rel, content, 'http-equiv': equivalent }: Record<string, string>): void {
  if ((tag === 'a' || tag === 'area') && href) found.links.push(href)
  else if (tag === 'frame' && src) found.links.push(src)
  else if (tag === 'base' && href) found.base ??= href
  else if (tag === 'link' && href && rel?.toLowerCase().split(/\s+/).includes('canonical')) found.canonical ??= href
  else if (tag === 'meta' && equivalent?.toLowerCase() === 'refresh') {
    const target = /url\s*=\s*['"]?([^'"]+)/i.exec(content?.slice(0, 2_000) ?? '')?.[1]
    if (target) found.links.push(target)
  }
}

function parseAttributes(html: string, from: number): { attributes: Record<string, string>; end: number } {
  const attributes: Record<string, string> = {}
  const attribute = /[\s/]*([^\s=>"'/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]*)))?/y
  let end = from
  for (let count = 0; count < MAX_ATTRIBUTES; count++) {
    attribute.lastIndex = end
    const match = attribute.exec(html)
    if (!match) break
    end = attribute.lastIndex
    const [, name = '', double, single, bare] = match
    attributes[name.toLowerCase()] ??= decoded(double ?? single ?? bare ?? '')
  }
  const close = html.indexOf('>', end)
  return { attributes, end: close < 0 ? html.length : close + 1 }
}

function findClosingTag(html: string, tag: string, from: number): number {
  const close = new RegExp(`</${tag}`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? -1
}

/** The few entities that addresses and titles are written with. */
export function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,5}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole
    const point = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}
