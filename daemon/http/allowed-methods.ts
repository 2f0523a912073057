/** Finds the methods that a path allows, for requests with another method. */
import type { FastifyRequest } from 'fastify'
import { METHODS } from '../../src/contract/route.ts'

/** Returns none if no route has this path, or if Fastify does not route the method of the request. */
export function listAllowedMethods({ method, server, url }: FastifyRequest): readonly string[] {
  if (!/^\/(api|v1)\//.test(url) || !server.supportedMethods.includes(method)) return []
  return METHODS.filter((other) => server.findRoute({ method: other, url }) !== null)
}
