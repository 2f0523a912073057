/** What the daemon is held against: Fastify and one route, which answers the body it was given. */
import Fastify from 'fastify'

const body = JSON.parse(process.argv[2] ?? '{}')
const server = Fastify()
server.get('/api/agents/:id', async () => body)
console.log(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}`)
