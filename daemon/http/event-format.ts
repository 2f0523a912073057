/** The formats of event streams: that of Cadre and that of OpenAI. */
import type { CadreError } from '../../src/contract/errors.ts'
import { createOpenaiError } from '../../src/contract/openai/errors.ts'
import type { Route, StreamEvent } from '../../src/contract/route.ts'
import { encodeEvent } from '../../src/sse.ts'

export interface EventFormat {
  encode(event: StreamEvent): string
  createError(error: CadreError): StreamEvent
}

const CADRE_FORMAT: EventFormat = {
  encode: ({ event, data, id }) => encodeEvent({ event, data: JSON.stringify(data), id }),
  createError: ({ message, code }) => ({ event: 'error', data: { error: message, code } }),
}

/** Events have no ids. Those called message have no name, and data that is a string is sent as it is. */
const OPENAI_FORMAT: EventFormat = {
  encode: ({ event, data }) =>
    `${event === 'message' ? '' : `event: ${event}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
  createError: (error) => ({ event: 'error', data: createOpenaiError(error) }),
}

export const getEventFormat = ({ protocol }: Pick<Route, 'protocol'>): EventFormat => (protocol === 'openai' ? OPENAI_FORMAT : CADRE_FORMAT)
