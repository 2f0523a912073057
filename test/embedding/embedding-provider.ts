/** A scripted embeddings provider on a local port. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests read fields of requests
  body: any
}

export type EmbeddingHandler = (received: ReceivedRequest, response: ServerResponse) => unknown

export interface EmbeddingProvider {
  url: string
  received: ReceivedRequest[]
  close(): Promise<void>
}

/** Each handler handles one request, the last one all further requests. Its result is sent as JSON. */
export async function startEmbeddingProvider(...handlers: [EmbeddingHandler, ...EmbeddingHandler[]]): Promise<EmbeddingProvider> {
  const received: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const entry = { path: request.url ?? '', headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()) }
    received.push(entry)
    const handler = handlers[Math.min(received.length, handlers.length) - 1] as EmbeddingHandler
    const body = await handler(entry, response)
    if (body !== undefined && !response.destroyed) response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Returns a vector that depends on the length of the text. */
export const createVector = (text: string): number[] => [text.length, text.length * 2, 0]

export const respondAsOpenai: EmbeddingHandler = ({ body }) => ({
  object: 'list',
  model: body.model,
  // Reversed, because only the index assigns vectors to texts.
  data: body.input.map((text: string, index: number) => ({ object: 'embedding', index, embedding: createVector(text) })).reverse(),
  usage: { prompt_tokens: body.input.length * 3, total_tokens: body.input.length * 3 },
})

export const respondAsGoogle: EmbeddingHandler = ({ body }) => ({
  embeddings: body.requests.map(({ content }: { content: { parts: { text: string }[] } }) => ({
    values: createVector(content.parts[0]?.text ?? ''),
  })),
})

/** Responds with an error status in the provider's format. */
export const respondWithStatus =
  (code: number, body: unknown = { error: { message: `status ${code}` } }, headers: Record<string, string> = {}): EmbeddingHandler =>
  (_, response) => {
    response.statusCode = code
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    return body
  }
