/** Says which earlier messages a model did not read word for word. */
import type { Message } from '../../../contract/schemas/messages.ts'
import { formatCount } from '../../terminal/format-quantity.ts'

/** `command` shows the summary. */
export function formatHistoryNotes({ summarized_messages = 0, omitted_messages = 0 }: Partial<Message>, command: string): string[] {
  const describe = (count: number) => `${formatCount(count, 'earlier message')} ${count === 1 ? 'is' : 'are'}`
  return [
    ...(summarized_messages > 0 ? [`${describe(summarized_messages)} summarized; ${command} shows it.`] : []),
    ...(omitted_messages > 0 ? [`${describe(omitted_messages)} left out, because they do not fit the context window of the model.`] : []),
  ]
}
