/** Finds the tool and the question of `rag query` and `retrieval search`. */
import { call } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import { withArticle } from '../../../contract/crud.ts'
import { CadreError, handleError } from '../../../contract/errors.ts'
import { knowledgeSourceRoutes } from '../../../contract/families/knowledge-sources.ts'
import { hasResource, resolveResource } from '../../resources/resolve-references.ts'
import type { Topic } from '../../resources/topic.ts'
import { UsageError } from '../../terminal/failures/command-errors.ts'
import { quoteShellWord } from '../../terminal/shell-quote.ts'
import { sanitizeLine } from '../../terminal/text.ts'
import { type QueryBody, type QueryFlags, readQuery } from '../query-flags.ts'
import { MissingQuestionError } from '../read-question.ts'
import { looksLikeQuestion } from './looks-like-question.ts'
import { rejectSecondName } from './name-in-question.ts'

interface QueryInput {
  topic: Topic
  /** The command line before the name of the tool. */
  command: string
  /** Name or ID of the tool. */
  tool: string
  /** The arguments of the question. */
  words: readonly string[]
  flags: QueryFlags
  connect(): Promise<Connection>
}

export async function prepareQuery(input: QueryInput): Promise<{ connection: Connection; id: string; body: QueryBody }> {
  const { topic, command, tool, words, flags, connect } = input
  const body = await readQuery(words, flags, `${command} ${quoteShellWord(tool)}`).catch(async (error: unknown) => {
    if (error instanceof MissingQuestionError && looksLikeQuestion(tool)) await requireTool(await connect(), input)
    throw error
  })
  const connection = await connect()
  const id = await resolveSearchTool(connection, input)
  await rejectSecondName(connection, topic, { name: tool, words, command })
  return { connection, id, body }
}

/** Throws if the question was given in place of the tool. */
async function requireTool(connection: Connection, input: QueryInput): Promise<void> {
  if (!(await hasResource(connection, input.topic, input.tool))) throw await createMissingToolError(connection, input)
}

/** If only a knowledge source has the name, the error explains how to create the tool. */
function resolveSearchTool(connection: Connection, input: QueryInput): Promise<string> {
  const { topic, command, tool, words } = input
  const explain = async (error: CadreError) => {
    if (looksLikeQuestion(tool)) throw await createMissingToolError(connection, input)
    const { data } = await call(connection, knowledgeSourceRoutes.list, { query: { name: tool, limit: 1 } as object })
    if (data.length > 0)
      throw new CadreError(error.code, `There is no ${topic.family.noun} "${tool}", only a knowledge source of that name.`, {
        hint: `To create one: cadre ${topic.command} create --name ${quoteShellWord(tool)} --knowledge-source ${quoteShellWord(tool)}`,
        cause: error,
      })
    const [name] = await listToolNames(connection, topic)
    if (words.length < 2 || name === undefined) throw error
    const example = `${command} ${quoteShellWord(name)} ${quoteShellWord([tool, ...words].join(' '))}`
    throw error.withHint(
      `${error.hint}\nIf it is part of the question, write the name of ${withArticle(topic.family.noun)} before it: ${example}`,
    )
  }
  return resolveResource(connection, topic, tool).catch(handleError('NOT_FOUND', explain))
}

const MAX_LISTED = 5

async function listToolNames(connection: Connection, { routes }: Topic): Promise<string[]> {
  const { data } = (await call(connection, routes.list, { query: { limit: MAX_LISTED + 1 } })) as unknown as { data: { name: string }[] }
  return data.map(({ name }) => sanitizeLine(name))
}

async function createMissingToolError(connection: Connection, { topic, command, tool, words }: QueryInput): Promise<UsageError> {
  const { noun } = topic.family
  const names = await listToolNames(connection, topic)
  const [name] = names
  const listed = [...names.slice(0, MAX_LISTED), ...(names.length > MAX_LISTED ? ['…'] : [])].join(', ')
  return new UsageError(
    `${command} needs the name of ${withArticle(noun)} before the question.`,
    name === undefined
      ? `There is no ${noun} yet. To create one: cadre ${topic.command} create --name docs --knowledge-source NAME`
      : `There ${names.length === 1 ? `is one ${noun}` : `are these ${noun}s`}: ${listed}\n` +
          `For example: ${command} ${quoteShellWord(name)} ${quoteShellWord([tool, ...words].join(' '))}`,
  )
}
