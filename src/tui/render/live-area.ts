/** The part of the screen that is alive: the tail of a reply, what is open, the input and the status, within the height there is. */
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { expandTabs, getVisibleRows, layOutText } from '../input/editor-layout.ts'
import { type Line, line, span, truncateLine } from '../markdown/styled-text.ts'
import type { ChatState } from '../state/chat-state.ts'
import { findPendingConfirmation } from '../state/transcript-reducer.ts'
import { renderConfirmation, renderMenu, renderPicker } from './panels.ts'
import { formatSeconds, getSpinnerFrame } from './render-tool-call.ts'
import { renderSourcePanel } from './source-panel.ts'
import { renderStatusLine } from './status-line.ts'

export interface LiveArea {
  readonly lines: readonly Line[]
  /** Where the cursor stands; undefined where nothing is typed. */
  readonly cursor: { readonly x: number; readonly y: number } | undefined
}

export const PROMPT = '› '
const MAX_MENU_ROWS = 16
/** A question that comes up while somebody types must not be answered by what they were about to type. */
export const CONFIRMATION_GRACE_MS = 300

/** Columns that the text of the input has. */
export const getInputColumns = (columns: number) => Math.max(8, columns - PROMPT.length)

/** What is always there and what is typed into, and the lines that they leave. */
function renderBottom(state: ChatState) {
  const { columns, rows } = state.size
  // One line is Ink's: as soon as what it draws is as high as the terminal, it clears the screen each time.
  let left = Math.max(4, rows - 1)
  const status = renderStatusLine(state)
  left -= 1
  const input = renderInput(state, Math.max(1, Math.min(10, Math.floor(rows / 3), left - 1)))
  left -= input.lines.length
  const ruled = left > 4
  if (ruled) left -= 1
  const menu = state.menu && left > 1 ? renderMenu(state.menu, columns, Math.min(MAX_MENU_ROWS, Math.floor(rows / 2), left - 1)) : []
  return { status, input, ruled, menu, left: left - menu.length }
}

const limitPanelHeight = (left: number, rows: number) => Math.max(2, Math.min(left, Math.floor(rows / 2)))

/** How high a panel may be on this screen. */
export const getPanelHeight = (state: ChatState) => limitPanelHeight(renderBottom(state).left, state.size.rows)

export function renderLiveArea(state: ChatState, live: readonly Line[]): LiveArea {
  const { columns, rows } = state.size
  const { status, input, ruled, menu, ...rest } = renderBottom(state)
  let { left } = rest
  const panel = renderPanel(state, limitPanelHeight(left, rows))
  left -= panel.length
  const waiting = renderActivity(state)
  left -= waiting.length
  const files =
    state.files.length > 0 && left > 0
      ? [truncateLine([span('  + ', 'green'), span(state.files.map(sanitizeLine).join(', '), 'dim')], columns)]
      : []
  left -= files.length
  const shown = live.slice(Math.max(0, live.length - Math.max(0, left)))
  // An empty line keeps what is said apart from the input, where there is room for it.
  const gap: Line[] = shown.length + waiting.length > 0 && left > shown.length ? [[]] : []
  const above: Line[] = [...shown, ...waiting, ...gap, ...panel, ...files, ...(ruled ? [line('─'.repeat(columns), 'dim')] : [])]
  const lines = [...above, ...input.lines, ...menu, status].map((each) => truncateLine(each, columns))
  return { lines, cursor: state.panel?.kind !== 'picker' ? { x: input.x, y: above.length + input.y } : undefined }
}

function renderInput({ editor, size, panel, agent }: ChatState, height: number): { lines: Line[]; x: number; y: number } {
  const columns = getInputColumns(size.columns)
  const layout = layOutText(editor.text, editor.cursor, columns)
  const { rows, row, above, below } = getVisibleRows(layout, height)
  if (editor.text === '' && panel?.kind !== 'picker')
    return { lines: [[span(PROMPT, 'cyan', 'bold'), span(agent ? `Ask ${sanitizeLine(agent.name)}` : '', 'dim')]], x: PROMPT.length, y: 0 }
  const lines = rows.map(({ text }, index): Line => {
    const more = (index === 0 && above > 0) || (index === rows.length - 1 && below > 0)
    return [index === 0 && above === 0 ? span(PROMPT, 'cyan', 'bold') : span(more ? '⋮ ' : '  ', 'dim'), span(expandTabs(text))]
  })
  return { lines, x: PROMPT.length + layout.column, y: row }
}

function renderPanel({ transcript, panel, size, editor, now, waitingSince: since }: ChatState, height: number): Line[] {
  const tool = findPendingConfirmation(transcript)
  // The keys stand there from the moment on in which they count.
  if (tool)
    return renderConfirmation(
      tool,
      size.columns,
      height,
      now - since < CONFIRMATION_GRACE_MS ? '' : editor.text === '' ? 'y yes · n no' : 'Ctrl+Y yes · Ctrl+N no',
    )
  if (!panel) return []
  return panel.kind === 'sources' ? renderSourcePanel(panel, size.columns, height) : renderPicker(panel, size.columns, height)
}

/** Something turns while a reply is awaited and says nothing. */
function renderActivity({ transcript, now, waitingSince: since, connectionProblem: trouble }: ChatState): Line[] {
  const last = transcript.live?.parts.at(-1)
  if (!transcript.isAwaitingReply || findPendingConfirmation(transcript)) return []
  if (last?.kind === 'tool' && last.tool.state === 'running') return []
  if (last?.kind === 'text' && trouble === undefined) return []
  const time = now - since >= 2000 ? ` ${formatSeconds(now - since).replace(/\.\d/, '')}` : ''
  return [
    [
      span(`  ${getSpinnerFrame(now)} `, 'cyan'),
      span(`${trouble === undefined ? 'thinking' : sanitizeLine(trouble)}${time}`, 'dim'),
      span(' · Esc stops', 'dim'),
    ],
  ]
}
