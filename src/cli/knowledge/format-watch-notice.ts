/** Formats whether and how the daemon follows the changes of a folder. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../contract/families/knowledge-sources.ts'
import { formatWatching } from '../resources/topics/knowledge.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { sanitizeLine } from '../terminal/text.ts'

type WatchedSource = Pick<KnowledgeSource, 'name' | 'type' | 'configuration' | 'watching'>

/** Each described source costs a request. */
const MAX_DESCRIBED = 20

/** Says how changes of a new source are found. Empty for other sources than folders. */
export function formatWatchNotice(source: WatchedSource): string[] {
  if (source.type !== 'folder') return []
  const update = `cadre knowledge update ${quoteShellWord(source.name)}`
  if (source.configuration.watch !== true) return [`Changes are indexed by the next sync. To follow them: ${update} --watch`]
  const { watching } = source
  const how =
    watching?.mode === 'polling' ? `Changes are indexed within minutes. ${watching.reason}` : 'Changes are indexed as they happen.'
  return [`${how} To turn this off: ${update} --no-watch`]
}

/** Returns how many folders are watched, and one line for each that is polled. */
export async function describeWatchedFolders(connection: Connection): Promise<string[]> {
  const query = { type: 'folder', limit: MAX_DESCRIBED } as object
  const { data } = await call(connection, knowledgeSourceRoutes.list, { query })
  const responses = await Promise.all(data.map(({ id }) => call(connection, knowledgeSourceRoutes.get, { params: { id } })))
  const watched = responses.map(({ data: source }) => source).filter(({ watching }) => watching !== null)
  const polled = watched.filter(({ watching }) => watching?.mode === 'polling')
  return [
    ...(watched.length > polled.length ? [formatCount(watched.length - polled.length, 'folder')] : []),
    ...polled.map((source) => `${sanitizeLine(source.name)}: ${formatWatching(source)}`),
  ]
}
