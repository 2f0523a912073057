/** Actions and states for render tests. */
import { type Line, toPlainText } from '../../../src/cli/terminal/markdown/styled-text.ts'
import type { Message } from '../../../src/contract/schemas/messages.ts'
import { advanceScrollback, EMPTY_SCROLLBACK, type ScrollbackState } from '../../../src/tui/render/scrollback.ts'
import { type ChatState, INITIAL_STATE, type SourceCitation } from '../../../src/tui/state/chat-state.ts'
import { EMPTY_TRANSCRIPT, reduceTranscript, type Transcript, type TranscriptAction } from '../../../src/tui/state/transcript-reducer.ts'

export const VIEW = { columns: 60, now: 5000, details: false }
export const texts = (lines: readonly Line[]) => lines.map(toPlainText)
export const delta = (text: string): TranscriptAction => ({ kind: 'event', at: 0, event: { event: 'message_delta', data: { text } } })
export const call = (id: string, name = 'search', args: Record<string, unknown> = { query: 'leave' }): TranscriptAction => ({
  kind: 'event',
  at: 1000,
  event: { event: 'tool_call', data: { id, name, arguments: args } },
})
export const result = (id: string, fields: object = {}): TranscriptAction => ({
  kind: 'event',
  at: 2000,
  event: { event: 'tool_result', data: { id, name: 'search', latency_ms: 300, ...fields } },
})
export const end = (fields: Partial<Message>): TranscriptAction => ({
  kind: 'event',
  at: 0,
  event: {
    event: 'message_end',
    data: { message: { id: 'msg_2', role: 'assistant', content: '', timestamp: '', finish_reason: 'stop', ...fields } },
  },
})
export const citation = (index: number, fields: Partial<SourceCitation> = {}): SourceCitation => ({
  index,
  source: 'leave.md',
  page: 3,
  document_id: 'd',
  content: 'Twenty-five days of paid leave.\nThey end in March.',
  score: 1,
  cited: true,
  quoteContext: { query: '', quoted: '' },
  ...fields,
})
export const said: TranscriptAction = { kind: 'said', text: 'How many days?' }
export const after = (...actions: TranscriptAction[]): Transcript => actions.reduce(reduceTranscript, EMPTY_TRANSCRIPT)
export const state = (fields: Partial<ChatState> = {}): ChatState => ({
  ...INITIAL_STATE,
  agent: { id: 'agent_1', name: 'Guide' },
  model: { name: 'llama', contextWindow: null, onlyQuotes: false },
  ...fields,
})

/** Returns the lines printed after each action and the final live lines. */
export function printActions(actions: readonly TranscriptAction[], view = VIEW): { done: string[]; live: string[] } {
  let [scrollback, transcript]: [ScrollbackState, Transcript] = [EMPTY_SCROLLBACK, EMPTY_TRANSCRIPT]
  const done: string[] = []
  let live: string[] = []
  for (const action of actions) {
    transcript = reduceTranscript(transcript, action)
    const next = advanceScrollback(scrollback, transcript, view)
    scrollback = next.state
    done.push(...texts(next.done))
    live = texts(next.live)
  }
  return { done, live }
}

export const TALK = [
  said,
  delta('Let me '),
  delta('look.'),
  call('c1'),
  result('c1', { citations: [citation(1)] }),
  delta('You have **25** days [1].\n\nEnjoy'),
  delta(' them.'),
]
