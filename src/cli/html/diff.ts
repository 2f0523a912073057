/** Shows two texts side by side and marks the words that differ. */
import { diffWordsWithSpace } from 'diff'
import { type Html, html } from './html.ts'
import { formatOmission, type ShortText } from './text-limit.ts'

/** Beyond this many changes the texts have little in common, and computing the difference takes long. */
const MAX_CHANGES = 300
/** Texts with less in common are shown without marks. */
const MIN_COMMON_SHARE = 0.2

export interface Side {
  heading: string
  text: ShortText | undefined
}

export function formatSideBySide(left: Side, right: Side): Html {
  const marked = left.text && right.text ? markDifferences(left.text.text, right.text.text) : undefined
  return html`<div class="pair">
${formatSide(left, marked?.before)}
${formatSide(right, marked?.after)}
</div>`
}

function formatSide({ heading, text }: Side, marked: Html | undefined): Html {
  const body = text && html`<pre dir="auto">${marked ?? text.text}</pre>${formatOmission(text.omitted)}`
  return html`<section><h4>${heading}</h4>
${body ?? html`<p class="quiet">none</p>`}</section>`
}

function markDifferences(before: string, after: string): { before: Html; after: Html } | undefined {
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MAX_CHANGES })
  if (!changes) return undefined
  const common = changes.reduce((sum, { added, removed, value }) => sum + (added || removed ? 0 : value.trim().length), 0)
  if (common < MIN_COMMON_SHARE * Math.max(before.length, after.length)) return undefined
  return {
    before: html`${changes.filter(({ added }) => !added).map(({ removed, value }) => (removed ? html`<del>${value}</del>` : value))}`,
    after: html`${changes.filter(({ removed }) => !removed).map(({ added, value }) => (added ? html`<ins>${value}</ins>` : value))}`,
  }
}
