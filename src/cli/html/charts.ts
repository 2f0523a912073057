/** Figures, tables with bars, and column charts of reports. */
import { type Html, html } from './html.ts'

export interface Figure {
  name: string
  value: string
  /** Explains the value, in smaller type. */
  note?: string | undefined
}

export const formatFigureList = (figures: readonly Figure[]): Html =>
  html`<dl class="figures">${figures.map(
    ({ name, value, note }) => html`
<div><dt>${name}</dt><dd>${value}${note ? html`<small>${note}</small>` : undefined}</dd></div>`,
  )}
</dl>`

interface ShareRow {
  label: string
  /** Shown when the pointer is over the label. */
  title?: string | undefined
  cells: readonly string[]
  /** Length of the bar relative to the largest value. */
  value: number
}

/** A table whose rows end in a bar. */
export function formatShareTable(heads: readonly [string, ...string[]], rows: readonly ShareRow[]): Html {
  const [head, ...figures] = heads
  const largest = Math.max(0, ...rows.map(({ value }) => value))
  return html`<div class="scroll"><table>
<thead><tr><th>${head}</th>${figures.map((figure) => html`<th class="number">${figure}</th>`)}<th class="share"></th></tr></thead>
<tbody>${rows.map(
    ({ label, title, cells, value }) => html`
<tr><td dir="auto"${title ? html` title="${title}"` : undefined}>${label}</td>${cells.map((cell) => html`<td class="number">${cell}</td>`)}
<td class="share">${formatBar(largest > 0 ? value / largest : 0)}</td></tr>`,
  )}
</tbody></table></div>`
}

const formatBar = (share: number): Html =>
  html`<svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect width="${round(100 * share)}" height="1"/></svg>`

interface ChartColumn {
  /** Shown when the pointer is over the column. */
  title: string
  value: number
  isCurrent?: boolean
}

/** Columns from left to right, as tall as their share of `max`, with a line of text below them. */
export function formatColumnChart(
  caption: string,
  columns: readonly ChartColumn[],
  max = Math.max(0, ...columns.map(({ value }) => value)),
): Html {
  const step = 100 / Math.max(columns.length, 12)
  return html`<svg class="columns" viewBox="0 0 100 100" preserveAspectRatio="none" role="img" aria-label="${caption}">${columns.map(
    ({ title, value, isCurrent }, index) => {
      const height = max > 0 ? round((100 * value) / max) : 0
      const place = html`x="${round(index * step + step * 0.1)}" y="${round(100 - height)}" width="${round(step * 0.8)}" height="${height}"`
      return html`
<rect ${place}${isCurrent ? html` class="current"` : undefined}><title>${title}</title></rect>`
    },
  )}
</svg>
<p class="quiet">${caption}</p>`
}

const round = (value: number): number => Number(value.toFixed(2))
