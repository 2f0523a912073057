/** The elements of an HTML page as a tree of limited depth, however deeply the page nests them. */
import { parseAttributes, walkMarkup } from '../walk-markup.ts'

export interface HtmlElement {
  name: string
  attributes: Map<string, string>
  children: (HtmlElement | string)[]
}

/** Deeper elements become children of the deepest one that counts, so that walking the tree needs little stack. */
const MAX_DEPTH = 200
/** How far up the tree an element looks for one that it closes, so that hostile pages cost no more than others. */
const MAX_CLOSE_DISTANCE = 30

const VOID_ELEMENTS = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))
const NO_ATTRIBUTES: Map<string, string> = new Map()
const BLOCK_ELEMENTS = new Set(
  'address article aside blockquote details div dl fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr main nav ol p pre section table ul'.split(
    ' ',
  ),
)
/** What an opening tag closes, and the elements it does not look beyond. */
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
  walkMarkup(
    source,
    {
      open(name, written, closed) {
        const implied = IMPLIED_END_TAGS.get(name)
        if (implied) {
          for (let at = open.length - 1; at >= 0 && at > open.length - MAX_CLOSE_DISTANCE; at--) {
            const other = open[at]?.name ?? ''
            if (implied.closes.has(other)) {
              pop(at)
              if (name !== 'tr' && name !== 'tbody' && name !== 'tfoot') break
            } else if (implied.within.has(other)) break
          }
        }
        const element = { name, attributes: written === '' ? NO_ATTRIBUTES : parseAttributes(written), children: [] }
        const parent = top()
        parent.children.push(element)
        // A slash closes nothing in HTML, but in the XML of e-books it does.
        if (VOID_ELEMENTS.has(name) || (closed && !BLOCK_ELEMENTS.has(name))) return
        open.push({ name, element: open.length < MAX_DEPTH ? element : parent })
        counts.set(name, (counts.get(name) ?? 0) + 1)
      },
      close(name) {
        if (name === 'p' && !counts.get('p')) return
        if (!counts.get(name)) return
        for (let at = open.length - 1; at >= 0; at--) {
          if (open[at]?.name === name) return pop(at)
        }
      },
      text(text) {
        const { children } = top()
        const last = children.length - 1
        if (typeof children[last] === 'string') children[last] += text
        else children.push(text)
      },
    },
    'html',
  )
  return root
}
