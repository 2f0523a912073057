/** What came of a delivery, in a sentence. */
import type { Static } from 'typebox'
import type { DeliveryDetails } from '../../contract/families/webhooks.ts'
import { paint } from '../terminal/color.ts'
import { formatCell } from '../terminal/format-cell.ts'

export type Delivery = Static<typeof DeliveryDetails>

export function formatDelivery({ status, event, response_status, history, error, next_attempt_at }: Delivery): string {
  const last = history.at(-1)
  const answered = response_status === null ? '' : ` (${response_status} after ${last?.latency_ms ?? 0} ms)`
  if (status === 'delivered') return `${paint('green', 'Delivered')} ${event}${answered}.`
  const again = next_attempt_at === null ? 'It is not tried again.' : `It is tried again at ${formatCell(next_attempt_at)} UTC.`
  return `${paint('red', 'Not delivered')}: ${error ?? 'it was not tried yet.'} ${again}`
}
