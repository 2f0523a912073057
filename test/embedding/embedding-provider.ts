/** A provider of embeddings on this machine that answers as the test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ReceivedRequest {
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent
  body: any
}

export type EmbeddingHandler = (received: ReceivedRequest, response: ServerResponse) => unknown

export interface EmbeddingProvider {
  url: string
  received: ReceivedRequest[]
  close(): Promise<void>
}

/** Each answer is used once, the last one for ever; what it returns is sent as JSON. */
export async function startEmbeddingProvider(...answers: [EmbeddingHandler, ...EmbeddingHandler[]]): Promise<EmbeddingProvider> {
  const received: ReceivedRequest[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()) }
    received.push(one)
    const answer = answers[Math.min(received.length, answers.length) - 1] as EmbeddingHandler
    const reply = await answer(one, response)
    if (reply !== undefined && !response.destroyed) response.setHeader('content-type', 'application/json').end(JSON.stringify(reply))
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

/** A vector that says which text it is of: its length, twice over. */
export const createVector = (text: string): number[] => [text.length, text.length * 2, 0]

export const respondAsOpenai: EmbeddingHandler = ({ body }) => ({
  object: 'list',
  model: body.model,
  // Backwards, since only the index says which vector is whose.
  data: body.input.map((text: string, index: number) => ({ object: 'embedding', index, embedding: createVector(text) })).reverse(),
  usage: { prompt_tokens: body.input.length * 3, total_tokens: body.input.length * 3 },
})

export const respondAsGoogle: EmbeddingHandler = ({ body }) => ({
  embeddings: body.requests.map(({ content }: { content: { parts: { text: string }[] } }) => ({
    values: createVector(content.parts[0]?.text ?? ''),
  })),
})

/** A failure in the words of a provider. */
export const respondWithStatus =
  (code: number, reply: unknown = { error: { message: `status ${code}` } }, headers: Record<string, string> = {}): EmbeddingHandler =>
  (_, response) => {
    response.statusCode = code
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    return reply
  }
