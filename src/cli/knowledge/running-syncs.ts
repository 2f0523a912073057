/** Describes the syncs that the daemon is running, for `cadre status`. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { knowledgeSourceRoutes } from '../../contract/families/knowledge-sources.ts'
import { formatPlainLine } from '../terminal/progress-bar.ts'
import { sanitizeLine } from '../terminal/text.ts'
import { toProgressStep } from './follow-sync.ts'

const MAX_DESCRIBED = 5
const UNKNOWN_PACE = { rate: 0, secondsLeft: undefined }

/** Returns one line per source, such as `Handbook: indexing, 120 of 3,000 passages`. */
export async function describeRunningSyncs(connection: Connection): Promise<string[]> {
  const query = { status: 'syncing', limit: MAX_DESCRIBED, sort: 'name', order: 'asc' } as object
  const { data, pagination } = await call(connection, knowledgeSourceRoutes.list, { query })
  const sources = await Promise.all(data.map(({ id }) => call(connection, knowledgeSourceRoutes.get, { params: { id } })))
  const lines = sources.map(({ data: { name, progress } }) => {
    const step = progress && formatPlainLine(toProgressStep(progress), UNKNOWN_PACE)
    return `${sanitizeLine(name)}${step ? `: ${step.toLowerCase().replace(': ', ', ')}` : ''}`
  })
  return pagination.total > lines.length ? [...lines, `and ${pagination.total - lines.length} more`] : lines
}
