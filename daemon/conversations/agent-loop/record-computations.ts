/** Adds what was computed from tables to the reply, as calls of the tool with which chat models compute, and cites the rows. */
import { createComputationPassage } from '../../core/cite-computation.ts'
import type { Computation } from '../../tables/computation.ts'
import type { ActiveReply } from '../reply/active-reply.ts'

/** Rows of a result that are stored. */
const MAX_ROWS = 50

/** Returns the computations with the numbers of their citations. */
export function recordComputations(reply: ActiveReply, computations: readonly Computation[]): Computation[] {
  return computations.map((computation) => {
    const { sql, table, document, interpretation, result } = computation
    const call = reply.draft.addToolCall({ id: 'computation', name: 'query_table', arguments: { sql } })
    const { id, name } = call
    reply.emit('tool_call', { id, name, arguments: call.arguments })
    call.result = { table, document, interpretation, rows: result.slice(0, MAX_ROWS) }
    const citation = reply.draft.citations.add(createComputationPassage(computation))
    reply.emit('tool_result', { id, name, result: call.result, citations: [citation] })
    return { ...computation, citation: citation.index }
  })
}
