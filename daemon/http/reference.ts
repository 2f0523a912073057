/** The API reference at /docs: Swagger UI from its own files, so that it works with no network. A browser at / is led there. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

const PAGE = '/docs'

export async function addReference(server: FastifyInstance, description: object): Promise<void> {
  server.addHook('onRoute', (route) => {
    if (route.url === PAGE || route.url.startsWith(`${PAGE}/`)) route.config = { ...route.config, open: true }
  })
  await server.register(swagger, { mode: 'static', specification: { document: description as never } })
  await server.register(swaggerUi, {
    routePrefix: PAGE,
    staticCSP: true,
    theme: { title: 'Cadre API' },
    uiConfig: { docExpansion: 'none', tryItOutEnabled: false },
  })
  server.get('/', { config: { open: true } }, (request, reply) => {
    if (request.headers.accept?.includes('text/html')) reply.redirect(PAGE)
    else reply.callNotFound()
  })
}
