/** Everything there is, as files hold it. */
import type { Caller } from '../core/caller.ts'
import type { StoredRecord } from '../store/records.ts'
import { createStems, createVariableName, findDuplicates, shortHash } from './file-names.ts'
import type { Inventory, NamedRecord } from './inventory.ts'
import { type Fields, KINDS, type Kind, SETTINGS_REFERENCES } from './kinds.ts'
import { isAllowed } from './permission.ts'
import { toFileFields } from './record-fields.ts'
import { replaceIdsWithNames } from './references.ts'

export interface ExportedResource {
  family: Kind['name'] | 'settings'
  name: string
  file: string
  fields: Fields
}

export interface ResourceExport {
  resources: ExportedResource[]
  notes: string[]
}

export function exportResources(inventory: Inventory, settings: Fields, caller: Caller): ResourceExport {
  const { directory } = inventory
  const resources: ExportedResource[] = []
  const hidden = KINDS.filter((kind) => !isAllowed('list', kind, caller)).map(
    ({ name }) => `Only admins see ${name}: they are not part of this.`,
  )
  const notes = [EXCLUDED_NOTE, ...hidden]
  /** What cannot be made again, and so cannot be referred to. */
  const leftOut = new Set<string>()
  for (const kind of KINDS) {
    const all = inventory.list(kind)
    const kept = all.filter(({ name, record }) => {
      const lost = findLostReference(kind, record, leftOut)
      if (lost === undefined) return true
      leftOut.add(record.id)
      notes.push(
        `The ${kind.family.noun} "${name}" is left out: what its ${lost} named was deleted, and without that it cannot be made again.`,
      )
      return false
    })
    const stems = createStems(kept.map(({ name }) => name))
    const variableOf = createVariableNamer(kind, stems, kept)
    const files = kept.map(({ name, key, record }) => {
      const stem = stems.get(name) as string
      const reference = (what: string) => `\${env:${variableOf(stem, what)}}`
      return {
        family: kind.name,
        name,
        file: `${kind.name}/${stem}.yaml`,
        fields: insertKey(kind, key, toFileFields(kind, omitReferences(record, leftOut), directory, reference)),
      }
    })
    resources.push(...files.sort((a, b) => (a.file < b.file ? -1 : 1)))
    if (kind.name === 'knowledge-sources') notes.push(...listSourceNotes(kept))
  }
  resources.push({
    family: 'settings',
    name: 'settings',
    file: 'settings.yaml',
    fields: replaceIdsWithNames(directory, SETTINGS_REFERENCES, settings),
  })
  return { resources, notes }
}

/** The key stands behind the name. */
function insertKey({ label }: Kind, key: string | undefined, fields: Fields): Fields {
  if (label === undefined || key === undefined) return fields
  const { [label]: name, ...rest } = fields
  return { [label]: name, key, ...rest }
}

/** The variable of each secret; those that would share one get a few characters of a hash. */
function createVariableNamer(
  { family: { noun }, referenceSecrets: secrets }: Kind,
  stems: ReadonlyMap<string, string>,
  all: readonly NamedRecord[],
): (stem: string, what: string) => string {
  const named: string[] = []
  for (const { name, record } of all)
    secrets?.(record as unknown as Fields, (what) => String(named.push(createVariableName(noun, stems.get(name) as string, what))))
  const shared = findDuplicates(named)
  return (stem, what) => {
    const variable = createVariableName(noun, stem, what)
    return shared.has(variable) ? `${variable}_${shortHash(`${stem} ${what}`).toUpperCase()}` : variable
  }
}

/** A field that must name something and does not. */
function findLostReference(
  { requiredReferences: vital = [], references }: Kind,
  record: StoredRecord,
  leftOut: ReadonlySet<string>,
): string | undefined {
  const stored = record as unknown as Fields
  const empty = vital.find((field) => stored[field] === null || (Array.isArray(stored[field]) && stored[field].length === 0))
  return (
    empty ??
    references.map(({ path }) => path[0] as string).find((field) => typeof stored[field] === 'string' && leftOut.has(stored[field]))
  )
}

/** Lists lose what is left out. */
function omitReferences(record: StoredRecord, leftOut: ReadonlySet<string>): StoredRecord {
  const lists = Object.entries(record).filter(([, value]) => Array.isArray(value) && value.some((item) => leftOut.has(item)))
  return lists.length === 0
    ? record
    : { ...record, ...Object.fromEntries(lists.map(([field, list]) => [field, list.filter((item: string) => !leftOut.has(item))])) }
}

const EXCLUDED_NOTE =
  'Tokens, conversations, usage, recordings of models and runs of evaluations are no configuration, and not part of this. Secrets are named, never written.'

function listSourceNotes(all: readonly NamedRecord[]): string[] {
  const sent = all.flatMap(({ name, record }) => ((record as unknown as { type: string }).type === 'file' ? [`"${name}"`] : [])).join(', ')
  return sent
    ? [`Documents that were sent to ${sent} are content, and not part of this: send them again with cadre knowledge documents add.`]
    : []
}
