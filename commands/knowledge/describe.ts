import { string } from '@oclif/core/args'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { hasResource, resolveResource } from '../../src/cli/resources/resolve-references.ts'
import { knowledgeTopic } from '../../src/cli/resources/topics/knowledge.ts'
import { fetchList } from '../../src/cli/resources/verbs/list.ts'
import { call } from '../../src/client/call.ts'
import type { Connection } from '../../src/client/request.ts'
import { documentRoutes } from '../../src/contract/families/documents.ts'
import { type KnowledgeSource, knowledgeSourceRoutes } from '../../src/contract/families/knowledge-sources.ts'

/** Listing the documents of larger sources would take too long. */
const MAX_CHECKED_DOCUMENTS = 1_000

export default class KnowledgeDescribe extends CadreCommand {
  static override description =
    'Describe what the documents of a knowledge source or folder are about.\n\n' +
    'The description is returned with every passage of these documents, so that models and coding agents know what they read. Without ' +
    'a description, lists those of the source; an empty one removes it.'
  static override examples = [
    { command: 'cadre knowledge describe handbook "Rules for all staff"', description: 'Describe a source' },
    { command: 'cadre knowledge describe handbook/hr "Leave and pay, checked by legal"', description: 'Describe a folder' },
    { command: 'cadre knowledge describe handbook', description: 'List the descriptions' },
    { command: 'cadre knowledge describe handbook/hr ""', description: 'Remove a description' },
  ]
  static override args = {
    path: string({
      required: true,
      ignoreStdin: true,
      description: 'Name or ID of the knowledge source, followed by a folder: SOURCE/FOLDER.',
    }),
    description: string({ ignoreStdin: true, description: 'What the documents are about.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(KnowledgeDescribe)
    const connection = await this.connect(flags)
    const { id, folder } = await findDescribedPath(connection, args.path)
    const params = { id }
    if (args.description === undefined) {
      const { data } = await call(connection, knowledgeSourceRoutes.get, { params })
      return this.print({ data: listDescriptions(data, folder), columns: ['path', 'description'] }, flags)
    }
    const text = args.description.trim()
    const body = folder === undefined ? { description: text } : { folder_descriptions: { [folder]: text === '' ? null : text } }
    const { data } = await call(connection, knowledgeSourceRoutes.patch, { params, body })
    const path = folder === undefined ? data.name : `${data.name}/${folder}`
    this.notify(text === '' ? `Removed the description of ${path}.` : `Described ${path}.`)
    const note = text === '' || folder === undefined ? undefined : await formatUnknownFolder(connection, data, folder)
    if (note !== undefined) this.notify(note)
    await this.printUnlessTable(data, flags)
  }
}

/** Lists the description of a folder and those below it, or all. */
function listDescriptions({ name, description, folder_descriptions }: KnowledgeSource, folder: string | undefined) {
  const folders = Object.entries(folder_descriptions)
    .filter(([path]) => folder === undefined || path === folder || path.startsWith(`${folder}/`))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, text]) => ({ path: `${name}/${path}`, description: text }))
  return [...(folder === undefined && description !== '' ? [{ path: name, description }] : []), ...folders]
}

/** Names of sources may contain slashes, so the longest name that exists is taken. */
async function findDescribedPath(connection: Connection, path: string): Promise<{ id: string; folder: string | undefined }> {
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

/** Returns a note if no document is in the folder, which is probably misspelt. */
async function formatUnknownFolder(
  connection: Connection,
  { id, name, statistics: { documents } }: KnowledgeSource,
  folder: string,
): Promise<string | undefined> {
  if (documents > MAX_CHECKED_DOCUMENTS) return undefined
  const { data } = await fetchList(connection, documentRoutes.list, { id }, { limit: 100 }, true)
  if (data.some((document) => String(document.name).startsWith(`${folder}/`))) return undefined
  return `${name} has no documents in ${folder} yet. List their names: cadre knowledge documents list ${name}`
}
