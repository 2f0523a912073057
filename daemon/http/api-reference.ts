/** The API reference at /docs: Swagger UI, served from local files. Redirects browsers from / to it. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import type { FastifyInstance } from 'fastify'
import { resolvePackageFolder } from '../../src/package-folder.ts'

const DOCS_PATH = '/docs'

export async function registerApiReference(server: FastifyInstance, getOpenapi: () => object): Promise<void> {
  server.addHook('onRoute', (route) => {
    if (route.url === DOCS_PATH || route.url.startsWith(`${DOCS_PATH}/`)) route.config = { ...route.config, open: true }
  })
  // The plugins are bundled, so they do not find their files next to themselves.
  const baseDir = fileURLToPath(new URL('dist/swagger-ui', resolvePackageFolder()))
  await server.register(swagger, { mode: 'static', specification: { document: {} as never } })
  await server.register(swaggerUi, {
    routePrefix: DOCS_PATH,
    staticCSP: true,
    baseDir,
    logo: { type: 'image/svg+xml', content: readFileSync(join(baseDir, 'logo.svg')) },
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
