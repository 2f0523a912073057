/** Stores the ledger: one row per call. */
import type { CallOrigin, CallUsage } from '../core/meter.ts'
import { type DatabaseReader, runLater, type Transaction } from '../store/database.ts'
import type { Period } from './budget-period.ts'
import type { Entity } from './entities.ts'

export interface LedgerCall extends CallOrigin {
  id: string
  status: 'open' | CallUsage['status']
  kind: 'chat' | 'embedding'
  began_at: string
  model_id: string
  price_input: number | null
  price_output: number | null
  input_tokens: number
  output_tokens: number
  /** The largest output; null if unknown. */
  reserved_output: number | null
  cost: number | null
}

type InsertedField = 'id' | 'kind' | 'began_at' | 'model_id' | 'price_input' | 'price_output' | 'input_tokens' | 'reserved_output'
export type NewLedgerCall = Pick<LedgerCall, InsertedField> & { origin: CallOrigin }
export type CallOutcome = Required<CallUsage> & { cost: number | null; settled_at: string }

const INSERTED_COLUMNS = [
  'began_at',
  'id',
  'kind',
  'model_id',
  'agent_id',
  'rag_tool_id',
  'prompt_template_id',
  'evaluation_id',
  'user_id',
  'conversation_id',
  'message_id',
  'price_input',
  'price_output',
  'input_tokens',
  'reserved_output',
] as const satisfies readonly (keyof LedgerCall)[]

/** One statement for all rows, here and below: a call per row costs more than the insert. */
export async function insertCalls(transaction: Transaction, calls: readonly NewLedgerCall[]): Promise<void> {
  const rows = calls.map(({ origin, ...call }) => ({ ...origin, ...call }))
  await runLater(
    transaction,
    `INSERT INTO usage_calls (${INSERTED_COLUMNS.join(', ')}, owner, status, output_tokens, cached_tokens, estimated)
     SELECT ${INSERTED_COLUMNS.map((name) => `value ->> '${name}'`).join(', ')}, ?, 'open', 0, 0, 1 FROM json_each(?)`,
    [transaction.daemonId, JSON.stringify(rows)],
  )
}

export async function getCalls(reader: DatabaseReader, ids: readonly string[]): Promise<Map<string, LedgerCall>> {
  const sql = 'SELECT usage_calls.* FROM json_each(?) AS wanted CROSS JOIN usage_calls ON usage_calls.id = wanted.value'
  return new Map((await reader.all<LedgerCall>(sql, [JSON.stringify(ids)])).map((call) => [call.id, call]))
}

/** Lists the open calls of daemons that have ended. */
export const listAbandonedCalls = (reader: DatabaseReader): Promise<LedgerCall[]> =>
  reader.all<LedgerCall>(
    "SELECT * FROM usage_calls WHERE status = 'open' AND (owner IS NULL OR owner NOT IN (SELECT id FROM live_daemons)) ORDER BY id",
  )

export async function estimateOutput(transaction: Transaction, id: string, outputTokens: number): Promise<void> {
  await runLater(transaction, "UPDATE usage_calls SET output_tokens = ? WHERE id = ? AND status = 'open'", [outputTokens, id])
}

const SETTLED_COLUMNS = [
  'status',
  'input_tokens',
  'output_tokens',
  'cached_tokens',
  'estimated',
  'cost',
  'settled_at',
] as const satisfies readonly (keyof CallOutcome)[]

export async function closeCalls(transaction: Transaction, outcomes: readonly (CallOutcome & { id: string })[]): Promise<void> {
  await runLater(
    transaction,
    `UPDATE usage_calls SET ${SETTLED_COLUMNS.map((name) => `${name} = settled.value ->> '${name}'`).join(', ')}
     FROM json_each(?) AS settled WHERE usage_calls.id = settled.value ->> 'id'`,
    [JSON.stringify(outcomes)],
  )
}

export interface OpenTotals {
  calls: number
  /** Calls whose output is not limited. */
  unlimited: number
  /** Tokens or cost. */
  amount: number
}

const AMOUNT_EXPRESSIONS = {
  tokens: (output: string) => `(input_tokens + ${output})`,
  cost: (output: string) => `((input_tokens * price_input + ${output} * price_output) / 1000)`,
}

/** Sums what the open calls of an entity may use: their input and largest output, or `unknown` if the output is not limited. */
export async function sumOpen(
  reader: DatabaseReader,
  entity: Entity,
  { start, end }: Period,
  metric: keyof typeof AMOUNT_EXPRESSIONS,
  unknown: number,
): Promise<OpenTotals> {
  const entityCondition = entity.type === '' ? '' : ` AND ${entity.type}_id = ?`
  const priceCondition = metric === 'cost' ? ' AND (price_input > 0 OR price_output > 0)' : ''
  const compute = AMOUNT_EXPRESSIONS[metric]
  const totals = await reader.get<OpenTotals>(
    `SELECT count(*) AS calls, count(*) - count(reserved_output) AS unlimited,
       total(max(${compute('output_tokens')}, coalesce(${compute('reserved_output')}, ?))) AS amount
     FROM usage_calls INDEXED BY usage_calls_open
     WHERE status = 'open' AND began_at >= ? AND began_at < ?${entityCondition}${priceCondition}`,
    [unknown, start, end, ...(entityCondition ? [entity.id] : [])],
  )
  return totals ?? { calls: 0, unlimited: 0, amount: 0 }
}
