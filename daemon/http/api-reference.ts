/** The API reference at /docs: Swagger UI, served from local files. Redirects browsers from / to it. */
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'

const DOCS_PATH = '/docs'

export async function registerApiReference(server: FastifyInstance, getOpenapi: () => object): Promise<void> {
  server.addHook('onRoute', (route) => {
    if (route.url === DOCS_PATH || route.url.startsWith(`${DOCS_PATH}/`)) route.config = { ...route.config, open: true }
  })
  await server.register(swagger, { mode: 'static', specification: { document: {} as never } })
  await server.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: true,
    // Building the document takes 5 % of the daemon's start, so it is built for the first reader.
    transformSpecification: getOpenapi as never,
    transformSpecificationClone: false,
    theme: { title: 'Cadre API' },
    uiConfig: { docExpansion: 'none', tryItOutEnabled: false },
  })
  server.get('/', { config: { open: true } }, (request, reply) => {
    if (request.headers.accept?.includes('text/html')) reply.redirect(DOCS_PATH)
    else reply.callNotFound()
  })
}
