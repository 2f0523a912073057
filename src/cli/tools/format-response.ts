import { STATUS_CODES } from 'node:http'
import type { Static } from 'typebox'
import type { apiToolRoutes } from '../../contract/families/api-tools.ts'
import { paint } from '../terminal/color.ts'
import { sanitizeLine, sanitizeText } from '../terminal/text.ts'

type TestResponse = Static<typeof apiToolRoutes.test.response>

export function formatStatus({ status, latency_ms }: TestResponse): string {
  const color = status < 300 ? 'green' : status < 400 ? 'yellow' : 'red'
  return `${paint(color, `${status} ${STATUS_CODES[status] ?? ''}`.trim())} in ${Math.round(latency_ms)} ms`
}

export function formatHeaders({ headers }: TestResponse): string[] {
  return Object.entries(headers).map(([name, value]) => `${paint('dim', `${sanitizeLine(name)}:`)} ${sanitizeLine(value)}`)
}

export function formatBody({ body }: TestResponse): string {
  if (body === null || body === undefined) return ''
  return sanitizeText(typeof body === 'string' ? body : JSON.stringify(body, null, 2))
}
