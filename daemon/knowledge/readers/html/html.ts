/** Reads web pages: their content as markdown, without navigation and other furniture. */
import { cleaned, type ReadDocument } from '../document.ts'
import { MarkdownWriter } from '../markdown-writer.ts'
import { writeHtml } from './to-markdown.ts'
import { type HtmlElement, parseHtml } from './tree.ts'

const DROPPED = new Set(
  'script style noscript template svg canvas iframe object embed applet audio video nav button select input textarea dialog head annotation annotation-xml ix:header'.split(
    ' ',
  ),
)
const ASIDE = new Set(['header', 'footer', 'aside'])
const ASIDE_ROLES = new Set(['navigation', 'banner', 'contentinfo', 'search', 'complementary', 'menu', 'menubar', 'dialog', 'alertdialog'])
const FURNITURE =
  /(?:^|[\s_-])(?:nav|navbar|navbox|navigation|sidebar|breadcrumbs?|cookies?|consent|footer|menu|share|sharing|social|advert|adverts|ads|banner|skip|toc|toolbar|pagination|pager|related|catlinks|jump-to-nav|metadata)(?:$|[\s_-])/i
const NOISE = /(?:^|\s)(?:mw-editsection|reference|noprint|sr-only|visually-hidden|headerlink|anchor-link)(?:$|\s)/i
/** The share of a page's text that its content must have; if less were left, the page is its furniture. */
const LEAST_SHARE = 0.3

interface Weight {
  text: number
  linked: number
  links: number
}

export function readHtml(source: string): ReadDocument {
  const root = parseHtml(source)
  const weights = weigh(root)
  const whole = find(root, (element) => element.name === 'body') ?? root
  const content = withoutFurniture(contentOf(whole, weights), weights)
  const title = titleOf(root)
  const writer = new MarkdownWriter()
  const headed = find(content, ({ name }) => name === 'h1') !== undefined
  if (title !== null && !headed && !/\.\w{2,5}$/.test(title)) {
    writer.text(title)
    writer.heading(1)
  }
  writeHtml(content, writer)
  return { text: cleaned(writer.finish()), format: 'markdown', pages: [], title }
}

/** A page without what it does not show. */
export function visible(page: HtmlElement): HtmlElement {
  return pruned(page, (element) => isInvisible(element) || element.name === 'nav').element
}

/** The page's main part where it names one that holds most of the text, else all of it. */
function contentOf(body: HtmlElement, weights: Map<HtmlElement, Weight>): HtmlElement {
  const total = weights.get(body)?.text ?? 0
  const mains: HtmlElement[] = []
  visit(body, (element) => {
    if (element.name === 'main' || element.attributes.get('role') === 'main') mains.push(element)
    else if (element.name === 'article') mains.push(element)
    return true
  })
  const largest = mains.sort((a, b) => (weights.get(b)?.text ?? 0) - (weights.get(a)?.text ?? 0))[0]
  return largest && (weights.get(largest)?.text ?? 0) >= total * LEAST_SHARE ? largest : body
}

/** The content with what is hidden, or surrounds it, taken out; all of it when too little would be left. */
function withoutFurniture(content: HtmlElement, weights: Map<HtmlElement, Weight>): HtmlElement {
  const certain = pruned(content, (element) => isInvisible(element))
  const likely = pruned(certain.element, (element) => isFurniture(element, content.name !== 'body' && content.name !== '#root', weights))
  const total = certain.text
  return likely.text >= total * LEAST_SHARE ? likely.element : certain.element
}

function isInvisible({ name, attributes }: HtmlElement): boolean {
  if (DROPPED.has(name)) return name !== 'nav'
  if (attributes.size === 0) return false
  if (attributes.has('hidden') || attributes.get('aria-hidden') === 'true') return true
  return /display\s{0,9}:\s{0,9}none/i.test(attributes.get('style') ?? '') || NOISE.test(attributes.get('class') ?? '')
}

function isFurniture(element: HtmlElement, inMain: boolean, weights: Map<HtmlElement, Weight>): boolean {
  const { name, attributes } = element
  if (name === 'nav' || attributes.get('role') === 'navigation') return true
  const { text, linked, links } = weights.get(element) ?? { text: 0, linked: 0, links: 0 }
  if (!inMain) {
    if (ASIDE.has(name) && find(element, (child) => child.name === 'h1') === undefined) return true
    if (ASIDE_ROLES.has(attributes.get('role') ?? '')) return true
    if (links >= 8 && linked >= text * 0.85 && (name === 'ul' || name === 'div' || name === 'table')) return true
  }
  const named = attributes.size > 0 && FURNITURE.test(`${attributes.get('class') ?? ''} ${attributes.get('id') ?? ''}`)
  return named && name !== 'body' && (linked >= text * 0.4 || /cookie|consent/i.test(attributes.get('class') ?? ''))
}

/** A copy without the elements that are dropped, and how much text is left. */
function pruned(element: HtmlElement, drop: (element: HtmlElement) => boolean): { element: HtmlElement; text: number } {
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
function weigh(root: HtmlElement): Map<HtmlElement, Weight> {
  const weights = new Map<HtmlElement, Weight>()
  const walk = (element: HtmlElement, linked: boolean): Weight => {
    const inLink = linked || element.name === 'a'
    const weight = { text: 0, linked: 0, links: element.name === 'a' ? 1 : 0 }
    for (const child of element.children) {
      if (typeof child === 'string') {
        const length = child.trim().length
        weight.text += length
        if (inLink) weight.linked += length
      } else if (!DROPPED.has(child.name) || child.name === 'nav') {
        const inner = walk(child, inLink)
        weight.text += inner.text
        weight.linked += inner.linked
        weight.links += inner.links
      }
    }
    weights.set(element, weight)
    return weight
  }
  walk(root, false)
  return weights
}

function visit(element: HtmlElement, each: (element: HtmlElement) => boolean): void {
  for (const child of element.children) if (typeof child !== 'string' && each(child)) visit(child, each)
}

function find(element: HtmlElement, fits: (element: HtmlElement) => boolean): HtmlElement | undefined {
  for (const child of element.children) {
    if (typeof child === 'string') continue
    if (fits(child)) return child
    const inner = find(child, fits)
    if (inner) return inner
  }
  return undefined
}

function titleOf(root: HtmlElement): string | null {
  const named = find(root, ({ name }) => name === 'title') ?? find(root, ({ name }) => name === 'h1')
  const title = named ? textOf(named).replaceAll(/\s+/g, ' ').trim() : ''
  return title === '' ? null : title.slice(0, 300)
}

export function textOf(element: HtmlElement): string {
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('')
}
