/** A local provider in OpenAI's format: the message sets the number of tokens and their interval. */
import { createServer } from 'node:http'

const CHUNK = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'scripted' }

const server = createServer(async (request, response) => {
  let text = ''
  for await (const part of request) text += part
  const { messages } = JSON.parse(text)
  const { name, tokens, everyMs } = JSON.parse(messages.at(-1).content)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const frame = (delta, finish_reason = null) => `data: ${JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const startedAt = performance.now()
  for (let token = 0; token < tokens; token++) {
    if (response.destroyed) return
    if (!response.write(frame({ content: ` ${name}-${token}` }))) await new Promise((resolve) => response.once('drain', resolve))
    const wait = startedAt + (token + 1) * everyMs - performance.now()
    if (everyMs > 0 && wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
  }
  response.write(frame({}, 'stop'))
  const usage = { prompt_tokens: 10, completion_tokens: tokens }
  response.write(`data: ${JSON.stringify({ ...CHUNK, choices: [], usage })}\n\n`)
  response.end('data: [DONE]\n\n')
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => console.log(`ready at http://127.0.0.1:${server.address().port}/v1`))
