/** Says what an agent remembered in a reply. */
import type { ToolCall } from '../../../contract/schemas/messages.ts'
import { sanitizeLine } from '../../terminal/text.ts'

/** Returns undefined for other calls, and for those that failed. */
export function findRemembered({ name, result }: Pick<ToolCall, 'name' | 'result'>): { id: string; text: string } | undefined {
  const { id, remembered } = (result ?? {}) as { id?: unknown; remembered?: unknown }
  if (name !== 'remember' || typeof id !== 'string' || typeof remembered !== 'string') return undefined
  return { id, text: `Remembered: ${sanitizeLine(remembered)}` }
}
