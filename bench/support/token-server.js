/** A provider in a process of its own: as many tokens as it is asked for, an event each, as fast as they are taken. */
import { once } from 'node:events'
import { createServer } from 'node:http'

const chunk = (choices, more) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices, ...more })}\n\n`
const token = (at) => chunk([{ index: 0, delta: { content: ` token${at}` }, finish_reason: null }])
const TOKENS_AT_ONCE = 20

const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request.setEncoding('utf8')) body += part
  const { max_tokens: tokens = 1 } = JSON.parse(body)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let at = 0; at < tokens; at++) {
    const taken = response.write(token(at))
    if (!taken) await once(response, 'drain')
    else if (at % TOKENS_AT_ONCE === 0) await new Promise(setImmediate)
  }
  response.write(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]))
  response.end(`${chunk([], { usage: { prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens } })}data: [DONE]\n\n`)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
process.on('disconnect', () => process.exit())
