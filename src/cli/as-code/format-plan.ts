/** A plan as people read it: what is made, changed and deleted, field by field, within the width of the terminal. */
import type { Static } from 'typebox'
import type { ApplyResult } from '../../contract/families/as-code.ts'
import { type Color, paint } from '../terminal/color.ts'
import { quoted } from '../terminal/shell-quote.ts'
import type { Paper } from '../terminal/table.ts'
import { oneLine, padEnd, truncate, width } from '../terminal/text.ts'

export type Plan = Static<typeof ApplyResult>
type Change = Plan['changes'][number]
type Action = Change['action']

const MARKS: Record<Exclude<Action, 'unchanged'>, { mark: string; color: Color }> = {
  create: { mark: '+', color: 'green' },
  update: { mark: '~', color: 'yellow' },
  delete: { mark: '-', color: 'red' },
}
/** What goes along with what is deleted. */
const BELONGINGS: Record<string, string> = { 'knowledge-sources': 'with its documents', evaluations: 'with its runs' }
const WIDEST = 120
/** How much of what is the same comes before what is not. */
const CONTEXT = 20

export const count = ({ changes }: Plan, action: Action): number => changes.filter((change) => change.action === action).length

export const changesAnything = ({ changes }: Plan): boolean => changes.some(({ action }) => action !== 'unchanged')

export function planLines(plan: Plan, paper: Paper): string[] {
  const changes = plan.changes.flatMap((change) => changeLines(change, paper))
  const missing = plan.missing.map(({ variable, file, field }) =>
    paint('yellow', `! ${variable} is not set, and ${oneLine(file)} needs it for ${field}`, paper.stream),
  )
  return [...changes, ...missing, ...(changes.length + missing.length > 0 ? [''] : []), totals(plan)]
}

function totals(plan: Plan): string {
  if (!changesAnything(plan))
    return `Nothing to do: ${plan.changes.length === 1 ? 'it is as its file says' : `all ${plan.changes.length} are as the files say`}.`
  return `${count(plan, 'create')} to create, ${count(plan, 'update')} to change, ${count(plan, 'delete')} to delete, ${count(plan, 'unchanged')} unchanged.`
}

function changeLines({ action, family, name, fields }: Change, { columns, stream }: Paper): string[] {
  if (action === 'unchanged') return []
  const { mark, color } = MARKS[action]
  const most = Math.min(columns, WIDEST)
  const title = family === 'settings' ? family : `${family}/${oneLine(name)}`
  const along = action === 'delete' && BELONGINGS[family] ? `  (${BELONGINGS[family]})` : ''
  const label = Math.max(0, ...fields.map(({ field }) => width(field))) + 2
  const head = paint(color, truncate(`${mark} ${title}${along}`, most), stream)
  return [head, ...fields.flatMap((one) => fieldLines(one, label, most - INDENT.length, stream).map((line) => INDENT + line))]
}

const INDENT = '    '

/** On one line where both values fit, else each on its own, from where they begin to differ. */
function fieldLines({ field, from, to }: Change['fields'][number], label: number, columns: number, stream: NodeJS.WriteStream): string[] {
  const name = padEnd(field, label)
  const [before, after] = [from === undefined ? undefined : shown(from), to === undefined ? undefined : shown(to)]
  if (before === undefined) return [truncate(name + after, columns)]
  // What a line shows is the same of a secret, and of texts that differ in their line ends.
  if (before === after) return [truncate(name + (from === to ? `${before} → another one` : 'other spaces or lines'), columns)]
  const line = `${name}${before} → ${after ?? 'its default'}`
  if (width(line) <= columns) return [line]
  const start = Math.max(0, alike(before, after ?? '') - CONTEXT)
  const cut = (text: string) => truncate(`${start > 0 ? '…' : ''}${text.slice(start)}`, columns - 4)
  return [
    field,
    `  ${paint('red', `- ${cut(before)}`, stream)}`,
    `  ${paint('green', `+ ${after === undefined ? 'its default' : cut(after)}`, stream)}`,
  ]
}

/** How many characters two texts begin with alike. */
function alike(one: string, other: string): number {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return at
}

const shown = (value: unknown): string => oneLine(typeof value === 'string' ? value : JSON.stringify(value))

/** What is told once it is done. */
export function doneLines(plan: Plan): string[] {
  const sources = plan.changes
    .filter(({ action, family }) => family === 'knowledge-sources' && (action === 'create' || action === 'update'))
    .map(({ name }) => name)
  return [
    `Created ${count(plan, 'create')}, changed ${count(plan, 'update')}, deleted ${count(plan, 'delete')}.`,
    ...(sources.length > 0 ? [paint('dim', `Read what is new in sources: cadre knowledge sync ${sources.map(quoted).join(' ')}`)] : []),
  ]
}
