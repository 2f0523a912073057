/** References between resources, so that a resource in use is not deleted by accident. */
import { FAMILIES } from '../../src/contract/routes.ts'
import { type DatabaseReader, runLater, type Transaction } from './database.ts'

/** How the owner is updated when the target is deleted by force. */
type Detach = { kind: 'value'; value: string | null } | { kind: 'item' } | { kind: 'owner' } | { kind: 'member'; name: string }

export interface Reference {
  field: string
  target: string
  detach: Detach
}

/** References that become null when their target is deleted. Those that are null already are none. */
export const listNullable = (fields: Record<string, string | null>): Reference[] =>
  Object.entries(fields).flatMap(([field, target]) => (target === null ? [] : { field, target, detach: { kind: 'value', value: null } }))

interface Owner {
  family: string
  id: string
  name: string
}

interface Link {
  owner_family: string
  owner_id: string
  owner_name: string
  field: string
  detach: string
}

export const getTableName = (family: string): string => family.replaceAll('-', '_')
const getNoun = (family: string): string => FAMILIES.find(({ name }) => name === family)?.noun ?? family

export async function replaceLinks(transaction: Transaction, owner: Owner, references: readonly Reference[]): Promise<void> {
  await runLater(transaction, 'DELETE FROM links WHERE owner_id = ?', [owner.id])
  for (const { field, target, detach } of references) {
    await runLater(
      transaction,
      'INSERT OR REPLACE INTO links (target_id, owner_family, owner_id, owner_name, field, detach) VALUES (?, ?, ?, ?, ?, ?)',
      [target, owner.family, owner.id, owner.name, field, JSON.stringify(detach)],
    )
  }
}

interface ResourceUser {
  noun: string
  id: string
  name: string
  field: string
}

/** An allowed tool is also one of the tools of its agent, so that the agent is not listed twice. */
const USES = "FROM links WHERE target_id = ? AND field <> 'allowed_tools'"

/** Lists the first uses of the target, and their total number. */
export async function listUsers(reader: DatabaseReader, target: string, most = 10): Promise<{ users: ResourceUser[]; total: number }> {
  const rows = await reader.all<Link>(`SELECT * ${USES} ORDER BY owner_family, owner_id LIMIT ?`, [target, most])
  const counted = await reader.get<{ total: number }>(`SELECT count(*) AS total ${USES}`, [target])
  const users = rows.map((row) => ({ noun: getNoun(row.owner_family), id: row.owner_id, name: row.owner_name, field: row.field }))
  return { users, total: counted?.total ?? 0 }
}

/** Removes the target from every resource that uses it. */
export const detachAll = (transaction: Transaction, target: string): Promise<void> => detachFrom(transaction, target, '%')

/** Makes every agent ask again before it calls the tool. */
export const revokeAllowedTool = (transaction: Transaction, tool: string): Promise<void> => detachFrom(transaction, tool, 'allowed_tools')

/** `fields` is a pattern of LIKE. */
async function detachFrom(transaction: Transaction, target: string, fields: string): Promise<void> {
  const matching = 'FROM links WHERE target_id = ? AND field LIKE ?'
  const kinds = await transaction.all<Link>(`SELECT DISTINCT owner_family, field, detach ${matching}`, [target, fields])
  const now = new Date().toISOString()
  for (const { owner_family, field, detach } of kinds) {
    const table = getTableName(owner_family)
    const owners = 'id IN (SELECT owner_id FROM links WHERE target_id = ? AND owner_family = ? AND field = ?)'
    const which = [target, owner_family, field]
    const how = JSON.parse(detach) as Detach
    if (how.kind === 'owner') {
      await transaction.run(`DELETE FROM ${table} WHERE ${owners}`, which)
      continue
    }
    const [content, value] = getDetachedContent(field, target, how)
    const sql = `UPDATE ${table} SET "${field}" = ${content}, version = version + 1, updated_at = ? WHERE ${owners}`
    await transaction.run(sql, [value, now, ...which])
  }
  await runLater(transaction, `DELETE ${matching}`, [target, fields])
}

/** Returns an SQL expression for the field without the target, and the value of its placeholder. */
function getDetachedContent(field: string, target: string, how: Exclude<Detach, { kind: 'owner' }>): [string, string | null] {
  if (how.kind === 'value') return ['?', how.value]
  // The member is never first in its object, so the comma before it is removed too.
  if (how.kind === 'member') return [`replace("${field}", ?, '')`, `,${JSON.stringify(how.name)}:${JSON.stringify(target)}`]
  return [`(SELECT json_group_array(value) FROM json_each("${field}") WHERE value <> ?)`, target]
}
