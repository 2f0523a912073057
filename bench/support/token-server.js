/** A provider process that sends max_tokens tokens, one per event, as fast as the client reads them. */
import { once } from 'node:events'
import { createServer } from 'node:http'

const chunk = (choices, more) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'bench', choices, ...more })}\n\n`
const createToken = (index) => chunk([{ index: 0, delta: { content: ` token${index}` }, finish_reason: null }])
const TOKENS_PER_TICK = 20

const server = createServer(async (request, response) => {
  let body = ''
  for await (const part of request.setEncoding('utf8')) body += part
  const { max_tokens: tokens = 1 } = JSON.parse(body)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (let index = 0; index < tokens; index++) {
    const hasCapacity = response.write(createToken(index))
    if (!hasCapacity) await once(response, 'drain')
    else if (index % TOKENS_PER_TICK === 0) await new Promise(setImmediate)
  }
  response.write(chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]))
  response.end(`${chunk([], { usage: { prompt_tokens: 10, completion_tokens: tokens, total_tokens: 10 + tokens } })}data: [DONE]\n\n`)
})
server.listen(0, '127.0.0.1', () => process.send?.(server.address().port))
process.on('disconnect', () => process.exit())
