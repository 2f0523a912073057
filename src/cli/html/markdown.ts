/** Renders Markdown written by a model as HTML. HTML in the text is shown as text, and images are not loaded. */
import type { Token, Tokens } from 'marked'
import { highlight, type OpenToken } from '../terminal/markdown/highlight.ts'
import { decodeEntities } from '../terminal/markdown/inline.ts'
import { lexMarkdown, parseLanguage } from '../terminal/markdown/render-markdown.ts'
import { sanitizeText } from '../terminal/text.ts'
import { Html, html } from './html.ts'

/** Turns the number of a citation into the ID of the element to link to, if there is one. */
type FindCitation = (index: number) => string | undefined

/** Headings of the page come before those of the text. */
const FIRST_HEADING = 3
const LAST_HEADING = 6
const CITATION = /\[(\d{1,3})\]/

/** Returns the plain text if it is nested too deeply to be rendered. */
export function renderMarkdownHtml(text: string, findCitation: FindCitation = () => undefined): Html {
  try {
    return renderBlocks(lexMarkdown(sanitizeText(text)), findCitation)
  } catch (error) {
    if (error instanceof RangeError) return html`<p class="plain">${text}</p>`
    throw error
  }
}

const renderBlocks = (tokens: readonly Token[], findCitation: FindCitation): Html =>
  html`${tokens.map((token) => html`${renderBlock(token, findCitation)}\n`)}`

function renderBlock(block: Token, findCitation: FindCitation): Html {
  switch (block.type) {
    case 'heading': {
      const name = new Html(`h${Math.min(LAST_HEADING, FIRST_HEADING - 1 + block.depth)}`)
      return html`<${name} dir="auto">${renderText(block as Tokens.Heading, findCitation)}</${name}>`
    }
    case 'paragraph':
      return html`<p dir="auto">${renderText(block as Tokens.Paragraph, findCitation)}</p>`
    case 'text':
      return renderText(block as Tokens.Text, findCitation)
    case 'code':
      return renderCode(block as Tokens.Code)
    case 'blockquote':
      return html`<blockquote class="prose">${renderBlocks((block as Tokens.Blockquote).tokens, findCitation)}</blockquote>`
    case 'list':
      return renderList(block as Tokens.List, findCitation)
    case 'table':
      return renderTable(block as Tokens.Table, findCitation)
    case 'hr':
      return html`<hr>`
    case 'html':
      return block.raw.trim() === '' ? html`` : html`<p class="plain dim">${block.raw.trim()}</p>`
    default:
      return html``
  }
}

function renderList({ items, ordered, start }: Tokens.List, findCitation: FindCitation): Html {
  const content = items.map(({ task, checked, tokens }) => {
    const mark = task ? (checked ? '☑ ' : '☐ ') : ''
    return html`<li dir="auto">${mark}${renderBlocks(
      tokens.filter(({ type }) => type !== 'checkbox'),
      findCitation,
    )}</li>\n`
  })
  return ordered ? html`<ol start="${Number(start) || 1}">\n${content}</ol>` : html`<ul>\n${content}</ul>`
}

function renderTable({ header, rows }: Tokens.Table, findCitation: FindCitation): Html {
  const heads = header.map((cell) => html`<th>${renderText(cell, findCitation)}</th>`)
  const body = rows.map((row) => html`<tr>${row.map((cell) => html`<td dir="auto">${renderText(cell, findCitation)}</td>`)}</tr>\n`)
  return html`<div class="scroll"><table><thead><tr>${heads}</tr></thead>\n<tbody>${body}</tbody></table></div>`
}

function renderCode({ text, lang }: Tokens.Code): Html {
  const language = parseLanguage(lang)
  let open: OpenToken | undefined
  const lines = text.split('\n').map((line) => {
    const highlighted = highlight(line, language, open)
    open = highlighted.open
    return html`${highlighted.spans.map((span) =>
      span.styles.length === 0 ? span.text : html`<span class="${span.styles.join(' ')}">${span.text}</span>`,
    )}\n`
  })
  return html`<pre dir="ltr"><code>${lines}</code></pre>`
}

const renderText = ({ tokens, text }: { tokens?: Token[]; text: string }, findCitation: FindCitation): Html =>
  tokens ? renderInline(tokens, findCitation) : renderCitations(decodeEntities(text), findCitation)

const INLINE_ELEMENTS: Record<string, string> = { strong: 'strong', em: 'em', del: 's' }

function renderInline(tokens: readonly Token[], findCitation: FindCitation): Html {
  return html`${tokens.map((token) => renderInlineToken(token, findCitation))}`
}

function renderInlineToken(token: Token, findCitation: FindCitation): Html {
  const name = INLINE_ELEMENTS[token.type]
  if (name !== undefined) {
    const element = new Html(name)
    return html`<${element}>${renderInline((token as Tokens.Strong).tokens, findCitation)}</${element}>`
  }
  if (token.type === 'br') return html`<br>`
  if (token.type === 'codespan') return html`<code>${token.text}</code>`
  if (token.type === 'link') return renderLink(token.href, renderInline(token.tokens ?? [], findCitation))
  if (token.type === 'image') return renderLink(token.href, html`[image: ${decodeEntities(token.text || token.href)}]`)
  if (token.type === 'html') return /^<br\s*\/?>$/i.test(token.raw.trim()) ? html`<br>` : html`<span class="dim">${token.raw}</span>`
  if ('tokens' in token && token.tokens) return renderInline(token.tokens, findCitation)
  return renderCitations(decodeEntities('text' in token ? token.text : token.raw), findCitation)
}

/** Links to web pages and mail addresses work; others, such as javascript:, are shown as text. */
function renderLink(target: string, text: Html): Html {
  const address = decodeEntities(target)
  return /^(https?:\/\/|mailto:)/i.test(address)
    ? html`<a href="${address}" rel="noopener noreferrer">${text}</a>`
    : html`${text} <span class="dim">(${address})</span>`
}

/** Line breaks of the source are kept, as on the terminal. */
function renderCitations(text: string, findCitation: FindCitation): Html {
  const parts = text.split(CITATION).map((part, index) => {
    if (index % 2 === 0) return part
    const id = findCitation(Number(part))
    return id === undefined ? `[${part}]` : html`<a href="#${id}">[${part}]</a>`
  })
  return html`${parts}`
}
