/** Conditions on columns, as LanceDB reads them. */

/** All of them must hold. Values are values: they are quoted here and nowhere else. */
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
  if (!Number.isFinite(value)) throw new Error(`${value} cannot be compared with`)
  return String(value)
}
