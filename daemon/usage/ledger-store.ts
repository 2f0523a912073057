/** The ledger as it is stored: a row a call, and the sums of each day. */
import type { CallOrigin, SettledCall } from '../metering.ts'
import type { Reader, Transaction } from '../store/database.ts'
import { type Amounts, NOTHING } from './amounts.ts'
import type { Entity } from './entities.ts'
import type { Period } from './period.ts'

export interface Call extends CallOrigin {
  id: string
  status: 'open' | SettledCall['status']
  kind: 'chat' | 'embedding'
  began_at: string
  model_id: string
  price_input: number | null
  price_output: number | null
  input_tokens: number
  output_tokens: number
  cost: number | null
}

export type NewCall = Pick<Call, 'id' | 'kind' | 'began_at' | 'model_id' | 'price_input' | 'price_output' | 'input_tokens'> & { origin: CallOrigin }
export type Outcome = Required<SettledCall> & { cost: number | null; settled_at: string }

export interface Spent {
  calls: number
  tokens: number
  cost: number
}

export async function insertCall(transaction: Transaction, { origin, ...call }: NewCall): Promise<void> {
  await transaction.run(
    "INSERT INTO usage_calls (began_at, id, status, kind, model_id, agent_id, rag_tool_id, prompt_template_id, evaluation_id, user_id, conversation_id, message_id, price_input, price_output, input_tokens, output_tokens, cached_tokens, estimated) VALUES (?, ?, 'open', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 1)",
    [
      call.began_at,
      call.id,
      call.kind,
      call.model_id,
      origin.agent_id ?? null,
      origin.rag_tool_id ?? null,
      origin.prompt_template_id ?? null,
      origin.evaluation_id ?? null,
      origin.user_id ?? null,
      origin.conversation_id ?? null,
      origin.message_id ?? null,
      call.price_input,
      call.price_output,
      call.input_tokens,
    ],
  )
}

export const callById = (reader: Reader, id: string): Promise<Call | undefined> => reader.get<Call>('SELECT * FROM usage_calls WHERE id = ?', [id])

export const openCalls = (reader: Reader): Promise<Call[]> => reader.all<Call>("SELECT * FROM usage_calls WHERE status = 'open' ORDER BY id")

export async function estimateOutput(transaction: Transaction, id: string, outputTokens: number): Promise<void> {
  await transaction.run("UPDATE usage_calls SET output_tokens = ? WHERE id = ? AND status = 'open'", [outputTokens, id])
}

export async function closeCall(transaction: Transaction, id: string, outcome: Outcome): Promise<void> {
  await transaction.run(
    'UPDATE usage_calls SET status = ?, input_tokens = ?, output_tokens = ?, cached_tokens = ?, estimated = ?, cost = ?, settled_at = ? WHERE id = ?',
    [outcome.status, outcome.input_tokens, outcome.output_tokens, outcome.cached_tokens, Number(outcome.estimated), outcome.cost, outcome.settled_at, id],
  )
}

const SUMS = [
  { table: 'usage_days', time: 'day', length: 10 },
  { table: 'usage_months', time: 'month', length: 7 },
] as const

const AMOUNTS = Object.keys(NOTHING) as (keyof Amounts)[]

/** Adds settled calls, one of which is given, to what each of these used of the model that day and that month. */
export async function addToSums(transaction: Transaction, entities: readonly Entity[], { began_at, model_id }: Call, amounts: Amounts): Promise<void> {
  const given = AMOUNTS.map((name) => amounts[name])
  const rows = entities.map(() => `(?, ?, ?, ?, ${given.map(() => '?').join(', ')})`).join(', ')
  const added = AMOUNTS.map((name) => `${name} = ${name} + excluded.${name}`).join(', ')
  for (const { table, time, length } of SUMS)
    await transaction.run(
      `INSERT INTO ${table} (entity_type, entity_id, ${time}, model_id, ${AMOUNTS.join(', ')}) VALUES ${rows} ON CONFLICT DO UPDATE SET ${added}`,
      entities.flatMap(({ type, id }) => [type, id, began_at.slice(0, length), model_id, ...given]),
    )
}

/** What an entity used in a period, of calls that are settled. */
export async function spentBy(reader: Reader, entity: Entity, { kind, start }: Period): Promise<Spent> {
  const { table, time, length } = SUMS[kind === 'day' ? 0 : 1]
  const [type, id] = entity.type === 'model' ? ['', ''] : [entity.type, entity.id]
  const model = entity.type === 'model' ? ' AND model_id = ?' : ''
  const found = await reader.get<Spent>(
    `SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(input_tokens + output_tokens), 0) AS tokens, total(cost) AS cost FROM ${table} WHERE entity_type = ? AND entity_id = ? AND ${time} = ?${model}`,
    [type, id, start.slice(0, length), ...(model ? [entity.id] : [])],
  )
  return found ?? { calls: 0, tokens: 0, cost: 0 }
}

/** What an entity's calls of a period that are still open will use at least, each counted as the mean of the settled ones or more. */
export async function promisedBy(reader: Reader, entity: Entity, { start, end }: Period, mean: Omit<Spent, 'calls'>): Promise<Spent> {
  const whose = entity.type === '' ? '' : ` AND ${entity.type}_id = ?`
  const found = await reader.get<Spent>(
    `SELECT count(*) AS calls, coalesce(sum(max(input_tokens + output_tokens, ?)), 0) AS tokens, total(max((input_tokens * price_input + output_tokens * price_output) / 1000, ?)) AS cost FROM usage_calls INDEXED BY usage_calls_open WHERE status = 'open' AND began_at >= ? AND began_at < ?${whose}`,
    [mean.tokens, mean.cost, start, end, ...(whose ? [entity.id] : [])],
  )
  return found ?? { calls: 0, tokens: 0, cost: 0 }
}
