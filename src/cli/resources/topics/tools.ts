/** CLI topic of API tools, whose commands also accept MCP tools. Placeholders in the URL become parameters by default. */
import { apiToolRoutes, apiTools } from '../../../contract/families/api-tools.ts'
import type { Body } from '../../input/input-reader.ts'
import type { Topic } from '../topic.ts'
import { mcpToolTopic } from './mcp.ts'

function toBody(body: Body): Body {
  if (body.parameters !== undefined || typeof body.url !== 'string') return body
  const names = [...new Set(Array.from(body.url.matchAll(/\{(\w+)\}/g), ([, name]) => name as string))]
  if (names.length === 0) return body
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { ...body, parameters: { type: 'object', properties, required: names } }
}

export const toolTopic: Topic = {
  command: 'tools',
  family: apiTools,
  routes: apiToolRoutes,
  columns: ['id', 'name', 'method', 'url', 'description'],
  label: 'name',
  getNextStep: ({ name }) => ['Try it', `cadre tools test ${name}`],
  references: {},
  alternatives: [mcpToolTopic],
  form: { schema: apiTools.create, toBody },
}
