/** Everything there is, as files hold it. */
import type { Caller } from '../core/caller.ts'
import type { StoredRecord } from '../store/records.ts'
import { repeated, short, stemsOf, variableFor } from './file-names.ts'
import type { Inventory, Named } from './inventory.ts'
import { type Fields, KINDS, type Kind, SETTINGS_REFERENCES } from './kinds.ts'
import { mayDo } from './permission.ts'
import { withNames } from './references.ts'
import { written } from './writing.ts'

export interface ExportedResource {
  family: Kind['name'] | 'settings'
  name: string
  file: string
  fields: Fields
}

export interface Exported {
  resources: ExportedResource[]
  notes: string[]
}

export function exported(inventory: Inventory, settings: Fields, caller: Caller): Exported {
  const { directory } = inventory
  const resources: ExportedResource[] = []
  const hidden = KINDS.filter((kind) => !mayDo('list', kind, caller)).map(
    ({ name }) => `Only admins see ${name}: they are not part of this.`,
  )
  const notes = [NEVER, ...hidden]
  /** What cannot be made again, and so cannot be referred to. */
  const leftOut = new Set<string>()
  for (const kind of KINDS) {
    const all = inventory.of(kind)
    const kept = all.filter(({ name, record }) => {
      const lost = lostField(kind, record, leftOut)
      if (lost === undefined) return true
      leftOut.add(record.id)
      notes.push(
        `The ${kind.family.noun} "${name}" is left out: what its ${lost} named was deleted, and without that it cannot be made again.`,
      )
      return false
    })
    const stems = stemsOf(kept.map(({ name }) => name))
    const variableOf = variablesFor(kind, stems, kept)
    const files = kept.map(({ name, key, record }) => {
      const stem = stems.get(name) as string
      const reference = (what: string) => `\${env:${variableOf(stem, what)}}`
      return {
        family: kind.name,
        name,
        file: `${kind.name}/${stem}.yaml`,
        fields: keyed(kind, key, written(kind, without(record, leftOut), directory, reference)),
      }
    })
    resources.push(...files.sort((a, b) => (a.file < b.file ? -1 : 1)))
    if (kind.name === 'knowledge-sources') notes.push(...sourceNotes(kept))
  }
  resources.push({
    family: 'settings',
    name: 'settings',
    file: 'settings.yaml',
    fields: withNames(directory, SETTINGS_REFERENCES, settings),
  })
  return { resources, notes }
}

/** The key stands behind the name. */
function keyed({ label }: Kind, key: string | undefined, fields: Fields): Fields {
  if (label === undefined || key === undefined) return fields
  const { [label]: name, ...rest } = fields
  return { [label]: name, key, ...rest }
}

/** The variable of each secret; those that would share one get a few characters of a hash. */
function variablesFor(
  { family: { noun }, secrets }: Kind,
  stems: ReadonlyMap<string, string>,
  all: readonly Named[],
): (stem: string, what: string) => string {
  const named: string[] = []
  for (const { name, record } of all)
    secrets?.(record as unknown as Fields, (what) => String(named.push(variableFor(noun, stems.get(name) as string, what))))
  const shared = repeated(named)
  return (stem, what) => {
    const variable = variableFor(noun, stem, what)
    return shared.has(variable) ? `${variable}_${short(`${stem} ${what}`).toUpperCase()}` : variable
  }
}

/** A field that must name something and does not. */
function lostField({ vital = [], references }: Kind, record: StoredRecord, leftOut: ReadonlySet<string>): string | undefined {
  const stored = record as unknown as Fields
  const empty = vital.find((field) => stored[field] === null || (Array.isArray(stored[field]) && stored[field].length === 0))
  return (
    empty ??
    references.map(({ path }) => path[0] as string).find((field) => typeof stored[field] === 'string' && leftOut.has(stored[field]))
  )
}

/** Lists lose what is left out. */
function without(record: StoredRecord, leftOut: ReadonlySet<string>): StoredRecord {
  const lists = Object.entries(record).filter(([, value]) => Array.isArray(value) && value.some((item) => leftOut.has(item)))
  return lists.length === 0
    ? record
    : { ...record, ...Object.fromEntries(lists.map(([field, list]) => [field, list.filter((item: string) => !leftOut.has(item))])) }
}

const NEVER =
  'Tokens, conversations, usage, recordings of models and runs of evaluations are no configuration, and not part of this. Secrets are named, never written.'

function sourceNotes(all: readonly Named[]): string[] {
  const sent = all.flatMap(({ name, record }) => ((record as unknown as { type: string }).type === 'file' ? [`"${name}"`] : [])).join(', ')
  return sent
    ? [`Documents that were sent to ${sent} are content, and not part of this: send them again with cadre knowledge documents add.`]
    : []
}
