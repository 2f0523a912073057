/** Builds HTML from templates in which every interpolated text is escaped. */
import { sanitizeText } from '../terminal/text.ts'

/** Markup that is not escaped again. */
export class Html {
  readonly markup: string

  constructor(markup: string) {
    this.markup = markup
  }
}

type HtmlValue = Html | string | number | undefined | readonly HtmlValue[]

/** Data cannot add markup: only the template itself and other Html are markup. Lists are concatenated. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  let markup = parts[0] ?? ''
  for (const [index, value] of values.entries()) markup += toMarkup(value) + (parts[index + 1] ?? '')
  return new Html(markup)
}

function toMarkup(value: HtmlValue): string {
  if (value === undefined) return ''
  if (value instanceof Html) return value.markup
  if (typeof value === 'object') return value.map(toMarkup).join('')
  return escapeHtml(String(value))
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

/** Also removes control characters and bidirectional marks, which could make text look different from what it is. */
const escapeHtml = (text: string): string => sanitizeText(text).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
