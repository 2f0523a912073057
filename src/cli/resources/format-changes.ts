/** Formats what an update changed, field by field. */
import { isDeepStrictEqual } from 'node:util'
import { formatCell } from '../terminal/format-cell.ts'
import type { Row } from '../terminal/table.ts'
import type { Topic } from './topic.ts'

/** Longer values are only named. */
const MAX_VALUE_LENGTH = 60
const SERVER_FIELDS = new Set(['created_at', 'updated_at', 'version'])

/** Returns one line per changed field. `names` are the names of the resources that the fields refer to, by ID. */
export function formatChanges(
  { nullLabels = {}, toView = (resource) => resource }: Pick<Topic, 'nullLabels' | 'toView'>,
  previous: Row,
  current: Row,
  names: ReadonlyMap<string, string>,
): string[] {
  const [before, after] = [toView(previous), toView(current)]
  const formatOne = (field: string, value: unknown) =>
    value === null ? (nullLabels[field] ?? 'none') : formatCell(rename(value)) || 'none'
  const rename = (value: unknown) => names.get(String(value)) ?? value
  return Object.keys(after)
    .filter((field) => !SERVER_FIELDS.has(field) && !isDeepStrictEqual(before[field], after[field]))
    .map((field) => {
      const [old, next] = [before[field], after[field]]
      const title = field.replace(/_ids?$/, '').replaceAll('_', ' ')
      if (isTextList(old) && isTextList(next)) return `${title}: ${formatListChange(old.map(rename), next.map(rename))}`
      const texts = [formatOne(field, old), formatOne(field, next)]
      return texts.some((text) => text.length > MAX_VALUE_LENGTH) ? `${title}: changed` : `${title}: ${texts.join(' → ')}`
    })
}

const isTextList = (value: unknown): value is string[] => Array.isArray(value) && value.every((item) => typeof item === 'string')

function formatListChange(before: readonly unknown[], after: readonly unknown[]): string {
  const added = after.filter((item) => !before.includes(item))
  const removed = before.filter((item) => !after.includes(item))
  const parts = [added.length > 0 ? `added ${formatCell(added)}` : '', removed.length > 0 ? `removed ${formatCell(removed)}` : ''].filter(
    Boolean,
  )
  return parts.length > 0 ? parts.join('; ') : 'reordered'
}
