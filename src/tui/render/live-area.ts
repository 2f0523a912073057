/** Renders the live area: the end of the reply, open panels, the input and the status line. */
import { type Line, line, span, truncateLine } from '../../cli/terminal/markdown/styled-text.ts'
import { sanitizeLine } from '../../cli/terminal/text.ts'
import { expandTabs, getVisibleRows, layOutText } from '../input/line-editor-layout.ts'
import { type ChatState, getEditedArguments, getUnconfirmedPermission } from '../state/chat-state.ts'
import type { ToolCall } from '../state/reply-reducer.ts'
import { findPendingConfirmation } from '../state/transcript-reducer.ts'
import { renderConfirmation } from './confirmation-panel.ts'
import { renderMenu, renderPicker } from './panels.ts'
import { formatSeconds, getSpinnerFrame } from './render-tool-call.ts'
import { renderSourcePanel } from './source-panel.ts'
import { renderStatusLine } from './status-line.ts'

export interface LiveArea {
  readonly lines: readonly Line[]
  /** Number of lines at the top that belong to the reply. */
  readonly replyLines: number
  /** Whether the start of the reply's live lines does not fit. */
  readonly isCut: boolean
  /** Undefined while a picker is open. */
  readonly cursor: { readonly x: number; readonly y: number } | undefined
}

const PROMPT = '› '
const MAX_MENU_ROWS = 16
const MAX_QUEUE_ROWS = 3
/** Keys typed before a confirmation appeared must not confirm it. */
export const CONFIRMATION_GRACE_MS = 300

export const getInputColumns = (columns: number) => Math.max(8, columns - PROMPT.length)

/** Renders status line, input and menu, and returns the number of lines left. */
function renderBottom(state: ChatState) {
  const { columns, rows } = state.size
  // Ink clears the screen for every frame that is as high as the terminal, so one line stays free.
  let left = Math.max(4, rows - 1)
  const status = renderStatusLine(state)
  left -= 1
  const input = renderInput(state, Math.max(1, Math.min(10, Math.floor(rows / 3), left - 1)))
  left -= input.lines.length
  const hasRule = left > 4
  if (hasRule) left -= 1
  const menu = state.menu && left > 1 ? renderMenu(state.menu, columns, Math.min(MAX_MENU_ROWS, Math.floor(rows / 2), left - 1)) : []
  return { status, input, hasRule, menu, left: left - menu.length }
}

const limitPanelHeight = (left: number, rows: number) => Math.max(2, Math.min(left, Math.floor(rows / 2)))

export const getPanelHeight = (state: ChatState) => limitPanelHeight(renderBottom(state).left, state.size.rows)

export function renderLiveArea(state: ChatState, live: readonly Line[]): LiveArea {
  const { columns, rows } = state.size
  const { status, input, hasRule, menu, ...rest } = renderBottom(state)
  let { left } = rest
  const panel = renderPanel(state, limitPanelHeight(left, rows))
  left -= panel.length
  const waiting = renderActivity(state)
  left -= waiting.length
  const queue = renderQueue(state).slice(0, Math.max(0, left))
  left -= queue.length
  const files =
    state.files.length > 0 && left > 0
      ? [truncateLine([span('  + ', 'green'), span(state.files.map(sanitizeLine).join(', '), 'dim')], columns)]
      : []
  left -= files.length
  const visible = live.slice(Math.max(0, live.length - Math.max(0, left)))
  // An empty line separates messages and input if it fits.
  const gap: Line[] = visible.length + waiting.length > 0 && left > visible.length ? [[]] : []
  const above: Line[] = [
    ...visible,
    ...waiting,
    ...gap,
    ...panel,
    ...queue,
    ...files,
    ...(hasRule ? [line('─'.repeat(columns), 'dim')] : []),
  ]
  const lines = [...above, ...input.lines, ...menu, status].map((row) => truncateLine(row, columns))
  const cursor = state.panel?.kind !== 'picker' ? { x: input.x, y: above.length + input.y } : undefined
  return { lines, replyLines: visible.length, isCut: visible.length < live.length, cursor }
}

function renderInput({ editor, size, panel, agent, replacesLast }: ChatState, height: number): { lines: Line[]; x: number; y: number } {
  const columns = getInputColumns(size.columns)
  const layout = layOutText(editor.text, editor.cursor, columns)
  const { rows, row, above, below } = getVisibleRows(layout, height)
  const prompt = span(PROMPT, replacesLast ? 'yellow' : 'cyan', 'bold')
  if (editor.text === '' && panel?.kind !== 'picker')
    return { lines: [[prompt, span(agent ? `Ask ${sanitizeLine(agent.name)}` : '', 'dim')]], x: PROMPT.length, y: 0 }
  const lines = rows.map(({ text }, index): Line => {
    const isCut = (index === 0 && above > 0) || (index === rows.length - 1 && below > 0)
    return [index === 0 && above === 0 ? prompt : span(isCut ? '⋮ ' : '  ', 'dim'), span(expandTabs(text))]
  })
  return { lines, x: PROMPT.length + layout.column, y: row }
}

function renderPanel(state: ChatState, height: number): Line[] {
  const { transcript, panel, size } = state
  const tool = findPendingConfirmation(transcript)
  if (tool) {
    const edited = getEditedArguments(state, tool)
    return renderConfirmation(tool, { edited, columns: size.columns, height, ...buildQuestion(state, tool) })
  }
  if (!panel) return []
  return panel.kind === 'sources' ? renderSourcePanel(panel, size.columns, height) : renderPicker(panel, size.columns, height)
}

/** The keys are shown as soon as they work. With text in the input, letters are typed. */
function buildQuestion(state: ChatState, tool: ToolCall): { question: string; keys: string[] } {
  const { editor, now, waitingSince, agent } = state
  const permission = getUnconfirmedPermission(state, tool)
  if (permission) {
    const agents = permission.scope === 'agent' ? (agent?.name ?? 'this agent') : 'all agents'
    return { question: `Always allow ${tool.name} with ${agents}?`, keys: ['Enter confirms', 'Esc goes back'] }
  }
  if (now - waitingSince < CONFIRMATION_GRACE_MS) return { question: 'Allow?', keys: [] }
  // Without the id of its tool, a call cannot be allowed for good.
  const always = tool.toolId === undefined ? [] : ['t always this tool', 'a always with this agent']
  const keys = editor.text === '' ? ['y yes', 'n no', ...always, 'e edit arguments', 'Esc stop'] : ['Ctrl+Y yes', 'Ctrl+N no', 'Esc stop']
  return { question: 'Allow?', keys }
}

/** Renders a spinner until the reply ends. A confirmation shows its own keys. */
function renderActivity(state: ChatState): Line[] {
  const { transcript, now, waitingSince } = state
  if (!transcript.isAwaitingReply || findPendingConfirmation(transcript)) return []
  const time = now - waitingSince >= 2000 ? ` ${formatSeconds(now - waitingSince).replace(/\.\d/, '')}` : ''
  return [[span(`  ${getSpinnerFrame(now)} `, 'cyan'), span(`${describeActivity(state)}${time}`, 'dim'), span(' · Esc to stop', 'dim')]]
}

function describeActivity({ transcript, connectionProblem }: ChatState): string {
  if (connectionProblem !== undefined) return sanitizeLine(connectionProblem)
  const last = transcript.live?.parts.at(-1)
  if (last?.kind === 'tool' && last.tool.state === 'running') return 'waiting for the tool'
  return last?.kind === 'text' ? 'writing' : 'thinking'
}

/** Renders the messages that are sent after the reply. */
function renderQueue({ queue, size }: ChatState): Line[] {
  if (queue.length === 0) return []
  const hidden = queue.length - MAX_QUEUE_ROWS
  const rows = queue.slice(0, MAX_QUEUE_ROWS).map(({ text }): Line => [span('  ⏎ ', 'cyan'), span(sanitizeLine(text), 'dim')])
  const keys = `    ${hidden > 0 ? `and ${hidden} more, ` : ''}sent after the reply · ↑ edits the last one`
  return [...rows, line(keys, 'dim')].map((row) => truncateLine(row, size.columns))
}
