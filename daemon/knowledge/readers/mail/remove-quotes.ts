/** Removes what a reply repeats of earlier mails. Quotes that are answered line by line are kept. */
import type { HtmlElement } from '../html/parse-html.ts'

/** "On Monday, Anna wrote:" in several languages. The line may be broken. */
const ATTRIBUTION = /(?:\bwrote|\bschrieb\b[^\n]{0,200}|\ba écrit|\bescribió|\bha scritto|\bschreef|\bskrev)\s*:\s*$/i
const SEPARATOR = /^[\s*_>]*-{2,}\s*(?:original message|ursprüngliche nachricht|message d.origine|mensaje original)\s*-{2,}/i
const FIRST_FIELD = /^[\s*_]*(?:from|von|de|da|van)[\s*_]*:/i
const FURTHER_FIELD = /^[\s*_]*(?:sent|date|to|cc|subject|gesendet|datum|an|betreff|envoyé|à|objet|enviado|para|asunto)[\s*_]*:/i
const FORWARDED_SUBJECT = /^\s*(?:fwd?|wg|tr|rv|i|doorst)\s*:/i
/** Mail programs mark what they quote with these classes and ids. */
const QUOTE_CLASS = /(?:^|\s)(?:gmail_quote|moz-cite-prefix|yahoo_quoted|protonmail_quote|zmail_extra)(?:$|\s|_)/
const REPLY_MARKS = new Set(['divRplyFwdMsg', 'appendonsend', 'mail-editor-reference-message-container'])

/** A forwarded mail is new to its reader. */
export const isForwarded = (subject: string): boolean => FORWARDED_SUBJECT.test(subject)

/** Returns the text unchanged if it consists of nothing but quotes. */
export function removeQuotes(text: string): string {
  const lines = text.split('\n')
  const end = findTrailingQuote(lines.slice(0, findEarlierMail(lines)))
  // What was quoted in the quote is not answered any more.
  const own = lines.slice(0, end).filter((line) => !/^\s*>[ \t]*>/.test(line))
  return own.some((line) => /[\p{L}\p{N}]/u.test(line)) ? own.join('\n').trimEnd() : text
}

/** Finds the line at which Outlook and others append the earlier mail with its header. */
function findEarlierMail(lines: readonly string[]): number {
  const index = lines.findIndex((line, at) => {
    if (SEPARATOR.test(line)) return true
    if (!FIRST_FIELD.test(line)) return false
    const following = lines.slice(at + 1, at + 6)
    // In Markdown, the fields may be one line.
    return following.filter((next) => FURTHER_FIELD.test(next)).length >= 2
  })
  return index < 0 ? lines.length : index
}

/** Finds the start of the quote at the end, and of the line above that says whose it is. A signature may follow. */
function findTrailingQuote(lines: readonly string[]): number {
  let end = lines.length
  while (end > 0 && isQuoteOrBlank(lines[end - 1])) end--
  if (lines.slice(end).every((line) => line.trim() === '')) return lines.length
  while (end > 0 && lines[end - 1]?.trim() === '') end--
  for (let count = 1; count <= 3 && count <= end; count++)
    if (ATTRIBUTION.test(lines.slice(end - count, end).join(' '))) {
      const isWholeLine = /^(?:on|am|le|el|il|op|den|\S+@\S+)\b/i.test(lines[end - count]?.trim() ?? '')
      if (isWholeLine || count === 1) return end - count
    }
  return end
}

const isQuoteOrBlank = (line: string | undefined): boolean => line === undefined || line.trim() === '' || /^\s*>/.test(line)

/** Returns a copy without quoted mails. */
export function removeQuotedElements(element: HtmlElement): HtmlElement {
  const children: HtmlElement['children'] = []
  for (const child of element.children) {
    if (typeof child === 'string') children.push(child)
    // What follows this mark is the earlier mail.
    else if (REPLY_MARKS.has(child.attributes.get('id') ?? '')) break
    else if (!isQuotedElement(child)) children.push(removeQuotedElements(child))
  }
  return { ...element, children }
}

function isQuotedElement({ name, attributes }: HtmlElement): boolean {
  return (name === 'blockquote' && attributes.get('type') === 'cite') || QUOTE_CLASS.test(attributes.get('class') ?? '')
}
