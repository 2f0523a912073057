/** Prompts for the fields of a new agent: name, instructions, model and tools. */
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { apiToolRoutes } from '../../contract/families/api-tools.ts'
import { mcpToolRoutes } from '../../contract/families/mcp/mcp-tools.ts'
import { modelRoutes } from '../../contract/families/models.ts'
import { ragToolRoutes } from '../../contract/families/rag-tools.ts'
import { retrievalToolRoutes } from '../../contract/families/retrieval-tools.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import type { Route } from '../../contract/route.ts'
import type { Body } from '../input/input-reader.ts'
import type { Interview } from '../resources/verbs/create.ts'
import { paint } from '../terminal/color.ts'
import { type Dialog, type Option, withDialog } from '../terminal/prompts.ts'

export const agentInterview: Interview = {
  description: 'At a terminal, prompts for missing fields.',
  ask: (connection, given) => withDialog((dialog) => askForAgent(connection, given, dialog)),
}

/** For longer lists, use flags. */
const MAX_LISTED = 50

async function askForAgent(connection: Connection, given: Body, dialog: Dialog): Promise<Body> {
  const name = given.name ?? (await dialog.askRequired('Name: '))
  const instructions = given.system_prompt ?? given.prompt_template_id ?? (await dialog.ask('Instructions (Enter for none): '))
  const system_prompt = given.prompt_template_id === undefined && instructions !== '' ? { system_prompt: instructions } : {}
  const model_id = given.model_id === undefined ? await chooseModel(connection, dialog) : given.model_id
  const tools = given.tools ?? (await chooseTools(connection, dialog))
  return {
    ...given,
    name,
    ...system_prompt,
    model_id,
    ...((tools as string[]).length > 0 ? { tools } : {}),
  }
}

interface ListedResource {
  id: string
  name: string
  description?: string
  provider?: string
}

async function listByName(connection: Connection, route: Route): Promise<ListedResource[]> {
  const { data } = (await call(connection, route, { query: { limit: MAX_LISTED, sort: 'name', order: 'asc' } })) as unknown as {
    data: ListedResource[]
  }
  return data
}

/** Undefined means the default model, even if that changes later. */
async function chooseModel(connection: Connection, dialog: Dialog): Promise<string | undefined> {
  const models = await listByName(connection, modelRoutes.list)
  const { data: settings } = await call(connection, systemRoutes.getSettings, {})
  const usual = models.find(({ id }) => id === settings.default_model_id)?.name ?? 'the default model'
  if (models.length < 2) return undefined
  process.stderr.write('\n')
  const options = models.map(({ id, name, provider }) => ({ value: id, label: name, ...(provider ? { note: provider } : {}) }))
  const [model] = await dialog.choose('Model', options, { multiple: false, emptyLabel: `Enter for the default, ${usual}` })
  return model
}

async function chooseTools(connection: Connection, dialog: Dialog): Promise<string[]> {
  const kinds: [Route, string][] = [
    [ragToolRoutes.list, 'answers from documents'],
    [retrievalToolRoutes.list, 'searches documents'],
    [apiToolRoutes.list, 'calls an API'],
    [mcpToolRoutes.list, 'tool of an MCP server'],
  ]
  const found = await Promise.all(
    kinds.map(async ([route, note]): Promise<Option<string>[]> => {
      const tools = await listByName(connection, route)
      return tools.map(({ id, name, description }) => ({ value: id, label: name, note: description || note }))
    }),
  )
  const options = found.flat()
  if (options.length === 0) {
    process.stderr.write(`${paint('dim', 'No tools yet. To create one that answers from documents: cadre knowledge add ./docs')}\n`)
    return []
  }
  process.stderr.write('\n')
  return dialog.choose('Knowledge and tools', options, { multiple: true })
}
