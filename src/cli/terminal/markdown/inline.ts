/** Renders inline Markdown: emphasis, code, links and citations. */
import type { Token, Tokens } from 'marked'
import { sanitizeText } from '../text.ts'
import { type Line, type Style, type StyledSpan, span } from './styled-text.ts'

const NAMED_ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '–',
  mdash: '—',
  hellip: '…',
  copy: '©',
}
const ENTITY = /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|(\w{2,8}));/g
const CITATION = /(\[\d{1,3}\])/

/** Sanitizes the result: entities can encode control characters. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text
  const decoded = text.replace(ENTITY, (entity, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED_ENTITIES[name] ?? entity
    const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal)
    return code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff) ? String.fromCodePoint(code) : entity
  })
  return sanitizeText(decoded)
}

/** Returns one line of spans for each hard line break. */
export function renderInline(tokens: readonly Token[], styles: readonly Style[] = []): Line[] {
  const lines: StyledSpan[][] = [[]]
  const append = (spans: readonly StyledSpan[]) => lines[lines.length - 1]?.push(...spans)
  for (const token of tokens) {
    if (isBreak(token)) lines.push([])
    else if (isNested(token)) {
      const [first = [], ...more] = renderInline(token.tokens, [...styles, ...getStyles(token)])
      append(first)
      for (const next of more) lines.push([...next])
      if (token.type === 'link') append(renderLinkTarget(token as Tokens.Link, styles))
    } else
      for (const [index, part] of getLeafText(token).split('\n').entries()) {
        if (index > 0) lines.push([])
        append(
          token.type === 'codespan'
            ? [span(part, ...styles, 'yellow')]
            : token.type === 'text' || token.type === 'escape'
              ? renderCitations(part, styles)
              : [span(part, ...styles, 'dim')],
        )
      }
  }
  return lines
}

function isBreak(token: Token): boolean {
  return token.type === 'br' || (token.type === 'html' && /^<br\s*\/?>$/i.test(token.raw.trim()))
}

function isNested(token: Token): token is Tokens.Generic & { tokens: Token[] } {
  return 'tokens' in token && token.tokens !== undefined && token.type !== 'image'
}

function getStyles({ type }: Token): Style[] {
  if (type === 'strong') return ['bold']
  if (type === 'em') return ['italic']
  if (type === 'del') return ['strike']
  return type === 'link' ? ['underline'] : []
}

function getLeafText(token: Token): string {
  if (token.type === 'image') return `[image: ${decodeEntities(token.text || token.href)}]`
  if (token.type === 'checkbox') return ''
  if (token.type === 'codespan') return token.text
  return 'text' in token && typeof token.text === 'string' ? decodeEntities(token.text) : token.raw
}

/** Highlights numbers in brackets, which refer to sources. */
function renderCitations(text: string, styles: readonly Style[]): StyledSpan[] {
  return text
    .split(CITATION)
    .flatMap((part) => (part === '' ? [] : [CITATION.test(part) ? span(part, ...styles, 'cyan') : span(part, ...styles)]))
}

/** Shows the target of a link unless it equals the text. */
function renderLinkTarget({ href, text }: Tokens.Link, styles: readonly Style[]): StyledSpan[] {
  const shown = decodeEntities(href)
  return shown === '' || shown === text || shown === `mailto:${text}` || shown === `http://${text}`
    ? []
    : [span(` (${shown})`, ...styles, 'dim')]
}
