/** The baseline of the benchmarks of streams: Fastify with one route that streams the AI SDK's text, in the format of the daemon. */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { streamText } from 'ai'
import Fastify from 'fastify'

const model = createOpenAICompatible({ name: 'scripted', baseURL: process.argv[2], includeUsage: true })('scripted')
const formatEvent = (event, data) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
const server = Fastify()
server.post('/api/conversations/:id/messages', async (request, reply) => {
  reply.hijack()
  reply.raw.writeHead(200, { 'content-type': 'text/event-stream' })
  const { textStream } = streamText({ model, prompt: request.body.message })
  for await (const text of textStream) reply.raw.write(formatEvent('message_delta', { text }))
  reply.raw.end(formatEvent('message_end', {}))
})
console.log(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}`)
