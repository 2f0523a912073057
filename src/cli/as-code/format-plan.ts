/** Formats a plan: created, changed and deleted resources, field by field. */
import type { Static } from 'typebox'
import type { ApplyResult } from '../../contract/families/as-code.ts'
import { type Color, paint } from '../terminal/color.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import type { Output } from '../terminal/table.ts'
import { padEnd, sanitizeLine, stringWidth, truncate } from '../terminal/text.ts'

export type Plan = Static<typeof ApplyResult>
type Change = Plan['changes'][number]
type Action = Change['action']

const MARKS: Record<Exclude<Action, 'unchanged'>, { mark: string; color: Color }> = {
  create: { mark: '+', color: 'green' },
  update: { mark: '~', color: 'yellow' },
  delete: { mark: '-', color: 'red' },
}
/** Dependent data that is deleted with a resource, by family. */
const DELETED_ALONG: Record<string, string> = { 'knowledge-sources': 'with its documents', evaluations: 'with its runs' }
const MAX_COLUMNS = 120
/** Unchanged characters shown before the first difference. */
const CONTEXT_CHARACTERS = 20

export const countChanges = ({ changes }: Plan, action: Action): number => changes.filter((change) => change.action === action).length

export const hasChanges = ({ changes }: Plan): boolean => changes.some(({ action }) => action !== 'unchanged')

export function formatPlan(plan: Plan, output: Output): string[] {
  const changes = plan.changes.flatMap((change) => formatChange(change, output))
  const missing = plan.missing.map(({ variable, file, field }) =>
    paint('yellow', `! ${variable} is not set (needed by ${sanitizeLine(file)} for ${field})`, output.stream),
  )
  return [...changes, ...missing, ...(changes.length + missing.length > 0 ? [''] : []), formatTotals(plan)]
}

function formatTotals(plan: Plan): string {
  if (!hasChanges(plan)) return `No changes. ${plan.changes.length} unchanged.`
  const count = (action: Action) => countChanges(plan, action)
  return `${count('create')} to create, ${count('update')} to update, ${count('delete')} to delete, ${count('unchanged')} unchanged.`
}

function formatChange({ action, family, name, fields }: Change, { columns, stream }: Output): string[] {
  if (action === 'unchanged') return []
  const { mark, color } = MARKS[action]
  const maxColumns = Math.min(columns, MAX_COLUMNS)
  const title = family === 'settings' ? family : `${family}/${sanitizeLine(name)}`
  const note = action === 'delete' && DELETED_ALONG[family] ? `  (${DELETED_ALONG[family]})` : ''
  const label = Math.max(0, ...fields.map(({ field }) => stringWidth(field))) + 2
  const head = paint(color, truncate(`${mark} ${title}${note}`, maxColumns), stream)
  return [head, ...fields.flatMap((field) => formatField(field, label, maxColumns - INDENT.length, stream).map((line) => INDENT + line))]
}

const INDENT = '    '

/** On one line if both values fit, otherwise on two lines starting near the first difference. */
function formatField({ field, from, to }: Change['fields'][number], label: number, columns: number, stream: NodeJS.WriteStream): string[] {
  const name = padEnd(field, label)
  const [before, after] = [from === undefined ? undefined : formatFieldValue(from), to === undefined ? undefined : formatFieldValue(to)]
  if (before === undefined) return [truncate(name + after, columns)]
  // Secrets are masked, and white space is collapsed: both can look unchanged.
  if (before === after) return [truncate(name + (from === to ? `${before} → new value` : 'white space changed'), columns)]
  const line = `${name}${before} → ${after ?? 'default'}`
  if (stringWidth(line) <= columns) return [line]
  const start = Math.max(0, countCommonPrefix(before, after ?? '') - CONTEXT_CHARACTERS)
  const cut = (text: string) => truncate(`${start > 0 ? '…' : ''}${text.slice(start)}`, columns - 4)
  return [
    field,
    `  ${paint('red', `- ${cut(before)}`, stream)}`,
    `  ${paint('green', `+ ${after === undefined ? 'default' : cut(after)}`, stream)}`,
  ]
}

function countCommonPrefix(first: string, second: string): number {
  let length = 0
  while (length < first.length && first[length] === second[length]) length++
  return length
}

const formatFieldValue = (value: unknown): string => sanitizeLine(typeof value === 'string' ? value : JSON.stringify(value))

export function formatOutcome(plan: Plan): string[] {
  const sources = plan.changes
    .filter(({ action, family }) => family === 'knowledge-sources' && (action === 'create' || action === 'update'))
    .map(({ name }) => name)
  return [
    `Created ${countChanges(plan, 'create')}, updated ${countChanges(plan, 'update')}, deleted ${countChanges(plan, 'delete')}.`,
    ...(sources.length > 0
      ? [paint('dim', `To index the changed sources: cadre knowledge sync ${sources.map(quoteShellWord).join(' ')}`)]
      : []),
  ]
}
