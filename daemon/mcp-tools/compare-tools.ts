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
  const describe = (tool: string, offer: ToolOffer | undefined): OfferedTool => {
    const record = approved.find((other) => other.tool === tool)
    return {
      tool,
      state: compareDefinitions(offer, record),
      id: record?.id ?? null,
      offered: offer ? pickDefinition(offer) : null,
      approved: record ? pickDefinition(record) : null,
      problem: offer?.problem ?? null,
    }
  }
  const removed = approved.filter(({ tool }) => !offers.some((offer) => offer.tool === tool))
  return [...offers.map((offer) => describe(offer.tool, offer)), ...removed.map(({ tool }) => describe(tool, undefined))]
}

function compareDefinitions(offer: ToolOffer | undefined, record: StoredMcpTool | undefined): OfferedTool['state'] {
  if (!offer) return 'removed'
  if (offer.problem !== undefined) return 'unusable'
  if (!record) return 'new'
  return hasSameDefinition(offer, record) ? 'approved' : 'changed'
}
