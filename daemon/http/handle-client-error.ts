/** Responds to requests that Node.js cannot parse, before they reach Fastify. */
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { CadreError } from '../../src/contract/errors.ts'
import { createErrorBody } from './errors.ts'

export function handleClientError(failure: { code?: string }, socket: Socket): void {
  if (failure.code === 'ECONNRESET' || socket.destroyed) return
  const error = createClientError(failure.code)
  const id = `req_${crypto.randomUUID()}`
  const body = JSON.stringify(createErrorBody(error, id))
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    'connection: close',
  ]
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy()
}

function createClientError(code: string | undefined): CadreError {
  if (code === 'HPE_HEADER_OVERFLOW') return new CadreError('PAYLOAD_TOO_LARGE', 'The request headers are too large.')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new CadreError('VALIDATION_ERROR', 'The request did not arrive in time.')
  return new CadreError('VALIDATION_ERROR', 'The request is not valid HTTP.')
}
