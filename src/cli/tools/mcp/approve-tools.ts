/** Shows what an MCP server offers and approves its tools after confirmation. */
import { string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import type { Static } from 'typebox'
import { call } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import { type Discovery, mcpToolRoutes, NAME_SEPARATOR, type OfferedTool } from '../../../contract/families/mcp/mcp-tools.ts'
import { repeatable, splitWords } from '../../input/repeatable-flags.ts'
import { mcpToolTopic } from '../../resources/topics/mcp.ts'
import { confirm, yesFlag } from '../../terminal/confirm.ts'
import { UsageError } from '../../terminal/failures/command-errors.ts'
import { formatCount } from '../../terminal/format-quantity.ts'
import { quoteShellWord } from '../../terminal/shell-quote.ts'
import type { Row } from '../../terminal/table.ts'
import { sanitizeLine } from '../../terminal/text.ts'
import { formatOffer } from './format-offer.ts'

export const reviewFlags = {
  tool: string({ ...repeatable, description: 'Approve only these tools. Repeatable.', helpValue: '<a,b>' }),
  yes: yesFlag,
}

/** The server of approved tools is known. */
export const APPROVED_COLUMNS = mcpToolTopic.columns.filter((column) => column !== 'mcp_server_id')

type ReviewOptions = InferredFlags<typeof reviewFlags> & { server: { id: string; name: string } }

/** Returns the approved tools. */
export async function reviewTools(
  connection: Connection,
  { server: discovered, tools }: Static<typeof Discovery>,
  { server, tool: only = [], yes }: ReviewOptions,
): Promise<Row[]> {
  const { notify } = connection
  const wanted = selectTools(tools, splitWords(only), server.name)
  const pending = wanted.filter(({ state }) => state === 'new' || state === 'changed')
  const title = `${server.name} (${sanitizeLine(`${discovered.name} ${discovered.version}`)})`
  notify(`${title} offers ${formatCount(tools.length, 'tool')}${wanted.length < tools.length ? `; ${wanted.length} selected` : ''}.`)
  for (const tool of wanted) if (tool.state !== 'approved') notify(formatOffer(tool))
  for (const { tool } of tools.filter(({ state }) => state === 'removed'))
    notify(`To delete it: cadre tools delete ${quoteShellWord(`${server.name}${NAME_SEPARATOR}${tool}`)}`)
  if (pending.length === 0) {
    notify('There is nothing to approve.')
    return []
  }
  await confirm(`Approve ${formatCount(pending.length, 'tool')}?`, yes, 'Nothing was approved.')
  const approved: Row[] = []
  for (const { id, tool, offered } of pending) {
    const definition = offered as NonNullable<OfferedTool['offered']>
    const { data } =
      id === null
        ? await call(connection, mcpToolRoutes.create, { body: { mcp_server_id: server.id, tool, ...definition } })
        : await call(connection, mcpToolRoutes.update, { params: { id }, body: definition })
    approved.push(data as Row)
  }
  return approved
}

function selectTools(tools: readonly OfferedTool[], only: readonly string[], server: string): OfferedTool[] {
  if (only.length === 0) return [...tools]
  const names = only.map((name) =>
    name.startsWith(`${server}${NAME_SEPARATOR}`) ? name.slice(server.length + NAME_SEPARATOR.length) : name,
  )
  const unknown = names.find((name) => !tools.some(({ tool }) => tool === name))
  if (unknown === undefined) return tools.filter(({ tool }) => names.includes(tool))
  const known = tools.map(({ tool }) => sanitizeLine(tool)).slice(0, 30)
  throw new UsageError(`${server} has no tool "${unknown}".`, known.length > 0 ? `Its tools are ${known.join(', ')}.` : undefined)
}
