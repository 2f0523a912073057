/** Reads web pages: their content as markdown, without navigation and other furniture. */

import { MarkdownWriter } from '../markdown-writer.ts'
import { cleanText, type ParsedDocument } from '../parsed-document.ts'
import { type HtmlElement, parseHtml } from './parse-html.ts'
import { writeHtml } from './write-html.ts'

const IGNORED_ELEMENTS = new Set(
  'script style noscript template svg canvas iframe object embed applet audio video nav button select input textarea dialog head annotation annotation-xml ix:header'.split(
    ' ',
  ),
)
const ASIDE_ELEMENTS = new Set(['header', 'footer', 'aside'])
const ASIDE_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'search', 'complementary', 'menu', 'menubar', 'dialog', 'alertdialog'])
const BOILERPLATE_CLASS =
  /(?:^|[\s_-])(?:nav|navbar|navbox|navigation|sidebar|breadcrumbs?|cookies?|consent|footer|menu|share|sharing|social|advert|adverts|ads|banner|skip|toc|toolbar|pagination|pager|related|catlinks|jump-to-nav|metadata)(?:$|[\s_-])/i
const HIDDEN_CLASS = /(?:^|\s)(?:mw-editsection|reference|noprint|sr-only|visually-hidden|headerlink|anchor-link)(?:$|\s)/i
/** The share of a page's text that its content must have; if less were left, the page is its furniture. */
const MIN_CONTENT_SHARE = 0.3

interface TextStatistics {
  textLength: number
  linkedLength: number
  linkCount: number
}

export function readHtml(source: string): ParsedDocument {
  const root = parseHtml(source)
  const weights = measureText(root)
  const whole = findElement(root, (element) => element.name === 'body') ?? root
  const content = removeBoilerplate(findContent(whole, weights), weights)
  const title = findTitle(root)
  const writer = new MarkdownWriter()
  const headed = findElement(content, ({ name }) => name === 'h1') !== undefined
  if (title !== null && !headed && !/\.\w{2,5}$/.test(title)) {
    writer.writeText(title)
    writer.endHeading(1)
  }
  writeHtml(content, writer)
  return { text: cleanText(writer.finish()), format: 'markdown', pages: [], title }
}

/** A page without what it does not show. */
export function removeHidden(page: HtmlElement): HtmlElement {
  return prune(page, (element) => isHidden(element) || element.name === 'nav').element
}

/** The page's main part where it names one that holds most of the text, else all of it. */
function findContent(body: HtmlElement, weights: Map<HtmlElement, TextStatistics>): HtmlElement {
  const total = weights.get(body)?.textLength ?? 0
  const mains: HtmlElement[] = []
  visitElements(body, (element) => {
    if (element.name === 'main' || element.attributes.get('role') === 'main') mains.push(element)
    else if (element.name === 'article') mains.push(element)
    return true
  })
  const largest = mains.sort((a, b) => (weights.get(b)?.textLength ?? 0) - (weights.get(a)?.textLength ?? 0))[0]
  return largest && (weights.get(largest)?.textLength ?? 0) >= total * MIN_CONTENT_SHARE ? largest : body
}

/** The content with what is hidden, or surrounds it, taken out; all of it when too little would be left. */
function removeBoilerplate(content: HtmlElement, weights: Map<HtmlElement, TextStatistics>): HtmlElement {
  const certain = prune(content, (element) => isHidden(element))
  const likely = prune(certain.element, (element) => isBoilerplate(element, content.name !== 'body' && content.name !== '#root', weights))
  const total = certain.text
  return likely.text >= total * MIN_CONTENT_SHARE ? likely.element : certain.element
}

function isHidden({ name, attributes }: HtmlElement): boolean {
  if (IGNORED_ELEMENTS.has(name)) return name !== 'nav'
  if (attributes.size === 0) return false
  if (attributes.has('hidden') || attributes.get('aria-hidden') === 'true') return true
  return /display\s{0,9}:\s{0,9}none/i.test(attributes.get('style') ?? '') || HIDDEN_CLASS.test(attributes.get('class') ?? '')
}

function isBoilerplate(element: HtmlElement, inMain: boolean, weights: Map<HtmlElement, TextStatistics>): boolean {
  const { name, attributes } = element
  if (name === 'nav' || attributes.get('role') === 'navigation') return true
  const {
    textLength: text,
    linkedLength: linked,
    linkCount: links,
  } = weights.get(element) ?? { textLength: 0, linkedLength: 0, linkCount: 0 }
  if (!inMain) {
    if (ASIDE_ELEMENTS.has(name) && findElement(element, (child) => child.name === 'h1') === undefined) return true
    if (ASIDE_ROLES.has(attributes.get('role') ?? '')) return true
    if (links >= 8 && linked >= text * 0.85 && (name === 'ul' || name === 'div' || name === 'table')) return true
  }
  const named = attributes.size > 0 && BOILERPLATE_CLASS.test(`${attributes.get('class') ?? ''} ${attributes.get('id') ?? ''}`)
  return named && name !== 'body' && (linked >= text * 0.4 || /cookie|consent/i.test(attributes.get('class') ?? ''))
}

/** A copy without the elements that are dropped, and how much text is left. */
function prune(element: HtmlElement, drop: (element: HtmlElement) => boolean): { element: HtmlElement; text: number } {
  let text = 0
  const copy = (original: HtmlElement): HtmlElement => {
    const children: HtmlElement['children'] = []
    for (const child of original.children) {
      if (typeof child === 'string') {
        text += child.trim().length
        children.push(child)
      } else if (!drop(child)) children.push(copy(child))
    }
    return { ...original, children }
  }
  return { element: copy(element), text }
}

/** How much text each element holds, and how much of it is linked. */
function measureText(root: HtmlElement): Map<HtmlElement, TextStatistics> {
  const weights = new Map<HtmlElement, TextStatistics>()
  const walk = (element: HtmlElement, linked: boolean): TextStatistics => {
    const inLink = linked || element.name === 'a'
    const weight = { textLength: 0, linkedLength: 0, linkCount: element.name === 'a' ? 1 : 0 }
    for (const child of element.children) {
      if (typeof child === 'string') {
        const length = child.trim().length
        weight.textLength += length
        if (inLink) weight.linkedLength += length
      } else if (!IGNORED_ELEMENTS.has(child.name) || child.name === 'nav') {
        const inner = walk(child, inLink)
        weight.textLength += inner.textLength
        weight.linkedLength += inner.linkedLength
        weight.linkCount += inner.linkCount
      }
    }
    weights.set(element, weight)
    return weight
  }
  walk(root, false)
  return weights
}

function visitElements(element: HtmlElement, each: (element: HtmlElement) => boolean): void {
  for (const child of element.children) if (typeof child !== 'string' && each(child)) visitElements(child, each)
}

function findElement(element: HtmlElement, fits: (element: HtmlElement) => boolean): HtmlElement | undefined {
  for (const child of element.children) {
    if (typeof child === 'string') continue
    if (fits(child)) return child
    const inner = findElement(child, fits)
    if (inner) return inner
  }
  return undefined
}

function findTitle(root: HtmlElement): string | null {
  const named = findElement(root, ({ name }) => name === 'title') ?? findElement(root, ({ name }) => name === 'h1')
  const title = named ? getText(named).replaceAll(/\s+/g, ' ').trim() : ''
  return title === '' ? null : title.slice(0, 300)
}

export function getText(element: HtmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : getText(child))).join('')
}
