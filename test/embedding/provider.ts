/** A provider of embeddings on this machine that answers as the test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  path: string
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what was sent
  body: any
}

export type Answer = (received: Received, response: ServerResponse) => unknown

export interface Provider {
  url: string
  received: Received[]
  close(): Promise<void>
}

/** Each answer is used once, the last one for ever; what it returns is sent as JSON. */
export async function startProvider(...answers: [Answer, ...Answer[]]): Promise<Provider> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const one = { path: request.url ?? '', headers: request.headers, body: JSON.parse(Buffer.concat(parts).toString()) }
    received.push(one)
    const answer = answers[Math.min(received.length, answers.length) - 1] as Answer
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
export const vectorOf = (text: string): number[] => [text.length, text.length * 2, 0]

export const openaiAnswer: Answer = ({ body }) => ({
  object: 'list',
  model: body.model,
  // Backwards, since only the index says which vector is whose.
  data: body.input.map((text: string, index: number) => ({ object: 'embedding', index, embedding: vectorOf(text) })).reverse(),
  usage: { prompt_tokens: body.input.length * 3, total_tokens: body.input.length * 3 },
})

export const googleAnswer: Answer = ({ body }) => ({
  embeddings: body.requests.map(({ content }: { content: { parts: { text: string }[] } }) => ({
    values: vectorOf(content.parts[0]?.text ?? ''),
  })),
})

/** A failure in the words of a provider. */
export const status =
  (code: number, reply: unknown = { error: { message: `status ${code}` } }, headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.statusCode = code
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    return reply
  }
