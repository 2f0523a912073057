/** The baseline of the HTTP benchmark: Fastify with one route that returns a fixed body. */
import Fastify from 'fastify'

const body = JSON.parse(process.argv[2] ?? '{}')
const server = Fastify()
server.get('/api/agents/:id', async () => body)
console.log(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}`)
