/** A chat without a service, to which tests send keys. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UnreachableError } from '../../../src/client/errors.ts'
import { handleKey } from '../../../src/tui/handle-key.ts'
import { KeyDecoder } from '../../../src/tui/input/key-decoder.ts'
import { ChatSession } from '../../../src/tui/session/chat-session.ts'
import { ChatStore } from '../../../src/tui/state/chat-store.ts'
import type { TranscriptAction } from '../../../src/tui/state/transcript-reducer.ts'
import { FAKE_TERMINAL } from '../fake-terminal.ts'

export const ESC = '\u001b'
export const [UP, DOWN, CTRL_C, CTRL_O, CTRL_L, CTRL_Y] = [`${ESC}[A`, `${ESC}[B`, '\u0003', '\u000f', '\u000c', '\u0019']

/** Creates a folder for the files of a chat. */
export function createFolder(): { folder: string; remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'cadre-keys-'))
  return { folder, remove: () => rmSync(folder, { recursive: true }) }
}

export function setUp(folder: string) {
  const time = { now: 10_000 }
  let quitCount = 0
  const store = new ChatStore(
    () => {},
    () => time.now,
  )
  const connect = () => Promise.reject(new UnreachableError('The service is not reachable.'))
  const session = new ChatSession({ store, connect, isPlain: false, cwd: folder, quit: () => quitCount++, terminal: { ...FAKE_TERMINAL } })
  const confirmations: unknown[][] = []
  session.replies.confirm = async (...answer) => void confirmations.push(answer.filter((value) => value !== undefined))
  store.update({ agent: { id: 'agent_1', name: 'Guide' }, size: { columns: 60, rows: 20 } })
  const type = (...chunks: string[]) => {
    for (const chunk of chunks) {
      const decoder = new KeyDecoder()
      for (const key of [...decoder.push(chunk), ...decoder.flush()]) handleKey(session, key)
    }
  }
  return {
    store,
    session,
    type,
    time,
    confirmations,
    quitCount: () => quitCount,
    text: () => store.state.editor.text,
    notes: () => store.state.transcript.entries.flatMap((entry) => (entry.kind === 'note' ? [entry.text] : [])),
  }
}

export const asks: TranscriptAction = {
  kind: 'event',
  at: 0,
  event: { event: 'confirmation_required', data: { id: 'c1', name: 'delete', arguments: {}, tool_id: 'api_1' } },
}
export const ends: TranscriptAction = {
  kind: 'event',
  at: 0,
  event: {
    event: 'message_end',
    data: { message: { id: 'm1', role: 'assistant', content: 'Done.', timestamp: '', finish_reason: 'stop' } },
  },
}
export const nextTurn = () => new Promise((resolve) => setImmediate(resolve))
