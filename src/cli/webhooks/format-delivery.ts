import type { DeliveryDetails } from '../../contract/families/webhooks.ts'
import { paint } from '../terminal/color.ts'
import { formatCell } from '../terminal/format-cell.ts'

export function formatDelivery({ status, event, response_status, history, error, next_attempt_at }: DeliveryDetails): string {
  const last = history.at(-1)
  const answered = response_status === null ? '' : ` (${response_status} after ${last?.latency_ms ?? 0} ms)`
  if (status === 'delivered') return `${paint('green', 'Delivered')} ${event}${answered}.`
  const again = next_attempt_at === null ? 'It will not be retried.' : `Next attempt: ${formatCell(next_attempt_at)} UTC.`
  return `${paint('red', 'Not delivered')}: ${error ?? 'not attempted yet.'} ${again}`
}
