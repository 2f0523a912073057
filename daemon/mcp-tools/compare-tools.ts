/** Compares the tools that a server offers with the approved ones. */
import { isDeepStrictEqual } from 'node:util'
import type { OfferedTool } from '../../src/contract/families/mcp/mcp-tools.ts'
import type { StoredMcpTool } from './store.ts'

export type Definition = NonNullable<OfferedTool['offered']>
export type ToolOffer = Definition & { tool: string; problem: string | undefined }

const pickDefinition = ({ description, parameters }: Definition): Definition => ({ description, parameters })

export const hasSameDefinition = (one: Definition, other: Definition): boolean =>
  isDeepStrictEqual(pickDefinition(one), pickDefinition(other))

/** Offered tools come first, in the order of the server. */
export function compareTools(offers: readonly ToolOffer[], approved: readonly StoredMcpTool[]): OfferedTool[] {
  const offered = offers.map((offer): OfferedTool => {
    const record = approved.find(({ tool }) => tool === offer.tool)
    const isSame = record !== undefined && hasSameDefinition(offer, record)
    return {
      tool: offer.tool,
      state: offer.problem !== undefined ? 'unusable' : record === undefined ? 'new' : isSame ? 'approved' : 'changed',
      id: record?.id ?? null,
      offered: pickDefinition(offer),
      approved: record ? pickDefinition(record) : null,
      problem: offer.problem ?? null,
    }
  })
  const removed = approved
    .filter(({ tool }) => !offers.some((offer) => offer.tool === tool))
    .map(
      (record): OfferedTool => ({
        tool: record.tool,
        state: 'removed',
        id: record.id,
        offered: null,
        approved: pickDefinition(record),
        problem: null,
      }),
    )
  return [...offered, ...removed]
}
