/** Says what an agent remembered in a reply. */
import type { ToolCall } from '../../../contract/schemas/messages.ts'
import { quoteShellWord } from '../../terminal/shell-quote.ts'
import { sanitizeLine } from '../../terminal/text.ts'

export interface Remembered {
  id: string
  content: string
  /** The fact that it replaced, if any. */
  replaced: string | undefined
  /** Whether the call changed nothing. */
  isKnown: boolean
}

/** Returns undefined for other calls, and for those that failed. */
export function findRemembered({ name, result }: Pick<ToolCall, 'name' | 'result'>): Remembered | undefined {
  const { id, remembered, replaced, known } = (result ?? {}) as Record<string, unknown>
  if (name !== 'remember' || typeof id !== 'string' || typeof remembered !== 'string') return undefined
  return { id, content: remembered, replaced: typeof replaced === 'string' ? replaced : undefined, isKnown: known === true }
}

export function formatRemembered({ content, replaced, isKnown }: Remembered): string {
  if (isKnown) return `Already remembered: ${sanitizeLine(content)}`
  return `Remembered: ${sanitizeLine(content)}${replaced === undefined ? '' : ` (instead of: ${sanitizeLine(replaced)})`}`
}

/** The command that undoes it. */
export const formatUndo = ({ id, replaced }: Remembered): string =>
  replaced === undefined ? `cadre memory delete ${id}` : `cadre memory edit ${id} --content ${quoteShellWord(sanitizeLine(replaced))}`
