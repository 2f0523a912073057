/** Extracts the title and links of a page in one pass; building a tree of a large page would block the event loop. */
import { decodeHTML, decodeHTMLAttribute } from 'entities'

interface PageLinks {
  title: string | undefined
  canonical: string | undefined
  /** Base of relative links, if the page declares one. */
  base: string | undefined
  links: string[]
}

export const MAX_HTML_LENGTH = 2 * 1024 * 1024
const MAX_LINKS = 5_000
const MAX_ATTRIBUTES = 100
/** Elements whose content is not markup. */
const RAW_TEXT_ELEMENTS = ['script', 'style', 'template', 'textarea', 'noembed', 'xmp']
const RELEVANT_TAG = `<(?:!--|(a|area|base|frame|link|meta|title|${RAW_TEXT_ELEMENTS.join('|')})(?=[\\s/>]))`

export function extractLinks(page: string): PageLinks {
  const html = page.slice(0, MAX_HTML_LENGTH)
  const result: PageLinks = { title: undefined, canonical: undefined, base: undefined, links: [] }
  const tags = new RegExp(RELEVANT_TAG, 'gi')
  for (let match = tags.exec(html); match && result.links.length < MAX_LINKS; match = tags.exec(html)) {
    const tag = match[1]?.toLowerCase()
    if (tag === undefined) {
      const close = html.indexOf('-->', tags.lastIndex)
      if (close < 0) break
      tags.lastIndex = close
      continue
    }
    const { attributes, end } = parseAttributes(html, tags.lastIndex)
    recordTag(result, tag, attributes)
    tags.lastIndex = end
    if (tag !== 'title' && !RAW_TEXT_ELEMENTS.includes(tag)) continue
    const close = findClosingTag(html, tag, end)
    // Never closed: the rest of the page is its content.
    if (close < 0) break
    if (tag === 'title')
      result.title ??=
        decodeHTML(html.slice(end, Math.min(close, end + 1_000)))
          .replaceAll(/\s+/g, ' ')
          .trim() || undefined
    tags.lastIndex = close
  }
  return result
}

function recordTag(result: PageLinks, tag: string, { href, src, rel, content, 'http-equiv': httpEquiv }: Record<string, string>): void {
  if ((tag === 'a' || tag === 'area') && href) result.links.push(href)
  else if (tag === 'frame' && src) result.links.push(src)
  else if (tag === 'base' && href) result.base ??= href
  else if (tag === 'link' && href && rel?.toLowerCase().split(/\s+/).includes('canonical')) result.canonical ??= href
  else if (tag === 'meta' && httpEquiv?.toLowerCase() === 'refresh') {
    const target = /url\s*=\s*['"]?([^'"]+)/i.exec(content?.slice(0, 2_000) ?? '')?.[1]
    if (target) result.links.push(target)
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
    attributes[name.toLowerCase()] ??= decodeHTMLAttribute(double ?? single ?? bare ?? '')
  }
  const close = html.indexOf('>', end)
  return { attributes, end: close < 0 ? html.length : close + 1 }
}

function findClosingTag(html: string, tag: string, from: number): number {
  const close = new RegExp(`</${tag}`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? -1
}
