/** Finds the methods of a path that are allowed instead of an unknown one. */
import type { FastifyRequest } from 'fastify'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Returns none if no route has this path, or if HTTP knows a method that Fastify does not route. */
export function findAllowedMethods({ method, server, url }: FastifyRequest): readonly string[] {
  if (!url.startsWith('/api/') || !server.supportedMethods.includes(method)) return []
  return METHODS.filter((other) => server.findRoute({ method: other, url }) !== null)
}
