/** Finds text in a conversation that its user did not write: documents, results of tools, attached files and messages of others. */
import type { StoredMessage } from '../store.ts'

/** The tools of memory return only what the user told the agent before. */
const MEMORY_TOOLS = new Set(['remember', 'recall', 'forget'])
/** Longer messages contain pasted text, which people do not write themselves. */
const MAX_WRITTEN_LENGTH = 2_000
/** Attached files are in a block of code. */
const FENCE = '```'

export const isToolOfOthers = ({ name }: { name: string }): boolean => !MEMORY_TOOLS.has(name)

export const hasPastedText = (question: string): boolean => question.length > MAX_WRITTEN_LENGTH || question.includes(FENCE)

export function hasUntrustedText({ role, content, user_id, citations = [], tool_calls = [] }: StoredMessage): boolean {
  return role === 'user' ? user_id !== undefined || hasPastedText(content) : citations.length > 0 || tool_calls.some(isToolOfOthers)
}
