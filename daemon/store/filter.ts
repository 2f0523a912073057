/** Builds filter conditions for LanceDB. */

/** Conditions combined with AND. Values are quoted by `toCondition` only. */
export type Filter = Record<string, string | number | readonly (string | number)[] | { below: number }>

export function toCondition(filter: Filter): string {
  const parts = Object.entries(filter).map(([column, wanted]) => {
    if (Array.isArray(wanted)) return wanted.length === 0 ? 'false' : `${column} IN (${wanted.map(toLiteral).join(', ')})`
    if (typeof wanted === 'object') return `${column} < ${toLiteral((wanted as { below: number }).below)}`
    return `${column} = ${toLiteral(wanted)}`
  })
  return parts.length === 0 ? 'true' : parts.join(' AND ')
}

function toLiteral(value: string | number): string {
  if (typeof value === 'string') return `'${value.replaceAll("'", "''")}'`
  if (!Number.isFinite(value)) throw new Error(`Cannot filter by ${value}.`)
  return String(value)
}
