/** Splits SOURCE/FOLDER into a knowledge source and a folder, and checks that the folder has documents. */
import type { Connection } from '../../client/request.ts'
import { documentRoutes } from '../../contract/families/documents.ts'
import type { KnowledgeSource } from '../../contract/families/knowledge-sources.ts'
import { hasResource, resolveResource } from '../resources/resolve-references.ts'
import { knowledgeTopic } from '../resources/topics/knowledge.ts'
import { fetchList } from '../resources/verbs/list.ts'

/** Names of sources may contain slashes, so the longest name that exists is taken. */
export async function findDescribedPath(connection: Connection, path: string): Promise<{ id: string; folder: string | undefined }> {
  const parts = path.split('/')
  for (let length = parts.length; length > 1; length--) {
    const name = parts.slice(0, length).join('/')
    if (await hasResource(connection, knowledgeTopic, name)) return resolvePath(connection, name, parts.slice(length))
  }
  return resolvePath(connection, parts[0] as string, parts.slice(1))
}

async function resolvePath(connection: Connection, name: string, rest: readonly string[]) {
  // A shell completes the name of a folder with a slash.
  const folder = rest.join('/').replace(/\/+$/, '')
  return { id: await resolveResource(connection, knowledgeTopic, name), folder: folder === '' ? undefined : folder }
}

/** Listing the documents of larger sources would take too long. */
const MAX_CHECKED_DOCUMENTS = 1_000

/** Returns a note if no document is in the folder, which is probably misspelt. */
export async function formatUnknownFolder(
  connection: Connection,
  { id, name, statistics: { documents } }: KnowledgeSource,
  folder: string,
): Promise<string | undefined> {
  if (documents > MAX_CHECKED_DOCUMENTS) return undefined
  const { data } = await fetchList(connection, documentRoutes.list, { id }, { limit: 100 }, true)
  if (data.some((document) => String(document.name).startsWith(`${folder}/`))) return undefined
  return `${name} has no documents in ${folder} yet. List their names: cadre knowledge documents list ${name}`
}
