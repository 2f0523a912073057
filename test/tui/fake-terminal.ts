/** A terminal of the chat for tests without one. */
import type { ChatTerminal } from '../../src/tui/session/chat-session.ts'

export const FAKE_TERMINAL: ChatTerminal = {
  copy: async () => ({ outcome: 'copied', note: 'Copied.' }),
  suspend: () => {},
  edit: async (text) => text,
}
