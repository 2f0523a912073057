/** Parses HTML into a tree of limited depth. */
import { parseAttributes, walkMarkup } from '../walk-markup.ts'

export interface HtmlElement {
  name: string
  attributes: Map<string, string>
  children: (HtmlElement | string)[]
}

/** Deeper elements become children of the deepest allowed one, so that recursion cannot overflow the stack. */
const MAX_DEPTH = 200
/** How many open elements are searched for one that a tag implicitly closes; bounds the cost of hostile pages. */
const MAX_CLOSE_DISTANCE = 30

const VOID_ELEMENTS = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
const NO_ATTRIBUTES: Map<string, string> = new Map()
const BLOCK_ELEMENTS = new Set(
  (
    'address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hr main nav ol p pre section table ul'
  ).split(' '),
)
/** Elements that an opening tag closes, and the elements that end the search for them. */
const IMPLIED_END_TAGS = new Map<string, { closes: Set<string>; within: Set<string> }>(
  [
    ['li', 'li', 'ul ol menu'],
    ['dt', 'dt dd', 'dl'],
    ['dd', 'dt dd', 'dl'],
    ['tr', 'tr td th caption', 'table tbody thead tfoot'],
    ['td', 'td th', 'tr table'],
    ['th', 'td th', 'tr table'],
    ['tbody', 'tbody thead tr td th', 'table'],
    ['tfoot', 'tbody thead tr td th', 'table'],
    ['option', 'option', 'select'],
    ...[...BLOCK_ELEMENTS].map((name) => [name, 'p', 'td th li div section article body table button blockquote']),
  ].map(([name = '', closes = '', within = '']) => [name, { closes: new Set(closes.split(' ')), within: new Set(within.split(' ')) }]),
)

export function parseHtml(source: string): HtmlElement {
  const root: HtmlElement = { name: '#root', attributes: NO_ATTRIBUTES, children: [] }
  const open: { name: string; element: HtmlElement }[] = []
  const counts = new Map<string, number>()
  const top = () => open.at(-1)?.element ?? root
  const pop = (length: number) => {
    while (open.length > length) {
      const { name } = open.pop() as { name: string }
      counts.set(name, (counts.get(name) ?? 1) - 1)
    }
  }
  walkMarkup(source, 'html', {
    open(name, attributes, isSelfClosing) {
      const implied = IMPLIED_END_TAGS.get(name)
      if (implied) {
        for (let index = open.length - 1; index >= 0 && index > open.length - MAX_CLOSE_DISTANCE; index--) {
          const other = open[index]?.name ?? ''
          if (implied.closes.has(other)) {
            pop(index)
            if (name !== 'tr' && name !== 'tbody' && name !== 'tfoot') break
          } else if (implied.within.has(other)) break
        }
      }
      const element = { name, attributes: attributes === '' ? NO_ATTRIBUTES : parseAttributes(attributes), children: [] }
      const parent = top()
      parent.children.push(element)
      // HTML ignores a closing slash, but the XHTML of e-books uses it.
      if (VOID_ELEMENTS.has(name) || (isSelfClosing && !BLOCK_ELEMENTS.has(name))) return
      open.push({ name, element: open.length < MAX_DEPTH ? element : parent })
      counts.set(name, (counts.get(name) ?? 0) + 1)
    },
    close(name) {
      if (!counts.get(name)) return
      for (let index = open.length - 1; index >= 0; index--) {
        if (open[index]?.name === name) return pop(index)
      }
    },
    text(text) {
      const { children } = top()
      const last = children.length - 1
      if (typeof children[last] === 'string') children[last] += text
      else children.push(text)
    },
  })
  return root
}

/** Lists the elements in an element, in the order of the page. */
export function* listDescendants(element: HtmlElement): Generator<HtmlElement> {
  const pending = element.children.toReversed()
  for (let child = pending.pop(); child !== undefined; child = pending.pop()) {
    if (typeof child === 'string') continue
    yield child
    for (const inner of child.children.toReversed()) pending.push(inner)
  }
}

export function findElement(element: HtmlElement, name: string): HtmlElement | undefined {
  for (const descendant of listDescendants(element)) if (descendant.name === name) return descendant
  return undefined
}
