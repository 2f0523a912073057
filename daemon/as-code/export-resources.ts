/** Exports all resources and settings in the format of files. */
import type { Static } from 'typebox'
import type { asCodeRoutes } from '../../src/contract/families/as-code.ts'
import type { Caller } from '../core/caller.ts'
import type { StoredRecord } from '../store/records.ts'
import { createStems, createVariableName, listDuplicates, shortHash } from './file-names.ts'
import type { Inventory, NamedRecord } from './inventory.ts'
import { type Fields, KINDS, type Kind, SETTINGS_REFERENCES } from './kinds.ts'
import { isAllowed } from './permission.ts'
import { toFileFields } from './record-fields.ts'
import { replaceIdsWithNames } from './references.ts'

export type ResourceExport = Static<typeof asCodeRoutes.export.response>

export function exportResources(inventory: Inventory, settings: Fields, caller: Caller): ResourceExport {
  const { directory } = inventory
  const resources: ResourceExport['resources'] = []
  const hidden = KINDS.filter((kind) => !isAllowed('list', kind, caller)).map(
    ({ name }) => `Not exported: ${name} are visible to admins only.`,
  )
  const notes = [EXCLUDED_NOTE, ...hidden]
  /** Ids of resources that could not be created again; references to them are omitted too. */
  const omitted = new Set<string>()
  for (const kind of KINDS) {
    const all = inventory.list(kind)
    const complete = all.filter(({ name, record }) => {
      const lost = findLostReference(kind, record, omitted)
      if (lost === undefined) return true
      omitted.add(record.id)
      notes.push(`Not exported: the ${kind.family.noun} "${name}", because the resource of its required ${lost} was deleted.`)
      return false
    })
    const stems = createStems(complete.map(({ name }) => name))
    const nameVariable = createVariableNamer(kind, stems, complete)
    const files = complete.map(({ name, key, record }) => {
      const stem = stems.get(name) as string
      const reference = (secret: string) => `\${env:${nameVariable(stem, secret)}}`
      return {
        family: kind.name,
        name,
        file: `${kind.name}/${stem}.yaml`,
        fields: insertKey(kind, key, toFileFields(kind, omitReferences(record, omitted), directory, reference)),
      }
    })
    resources.push(...files.sort((a, b) => (a.file < b.file ? -1 : 1)))
    if (kind.name === 'knowledge-sources') notes.push(...listSourceNotes(complete))
  }
  resources.push({
    family: 'settings',
    name: 'settings',
    file: 'settings.yaml',
    fields: replaceIdsWithNames(directory, SETTINGS_REFERENCES, settings),
  })
  return { resources, notes }
}

/** Inserts the key after the name. */
function insertKey({ label }: Kind, key: string | undefined, fields: Fields): Fields {
  if (label === undefined || key === undefined) return fields
  const { [label]: name, ...rest } = fields
  return { [label]: name, key, ...rest }
}

/** Names the environment variables of secrets. Names that would collide get a hash suffix. */
function createVariableNamer(
  { family: { noun }, referenceSecrets }: Kind,
  stems: ReadonlyMap<string, string>,
  all: readonly NamedRecord[],
): (stem: string, secret: string) => string {
  const names: string[] = []
  for (const { name, record } of all)
    referenceSecrets?.(record as unknown as Fields, (secret) =>
      String(names.push(createVariableName(noun, stems.get(name) as string, secret))),
    )
  const duplicates = listDuplicates(names)
  return (stem, secret) => {
    const variable = createVariableName(noun, stem, secret)
    return duplicates.has(variable) ? `${variable}_${shortHash(`${stem} ${secret}`).toUpperCase()}` : variable
  }
}

/** Returns a required reference that is empty or refers to an omitted resource. */
function findLostReference(
  { requiredReferences = [], references }: Kind,
  record: StoredRecord,
  omitted: ReadonlySet<string>,
): string | undefined {
  const stored = record as unknown as Fields
  const empty = requiredReferences.find((field) => stored[field] === null || (Array.isArray(stored[field]) && stored[field].length === 0))
  return (
    empty ??
    references.map(({ path }) => path[0] as string).find((field) => typeof stored[field] === 'string' && omitted.has(stored[field]))
  )
}

/** Removes omitted resources from lists. */
function omitReferences(record: StoredRecord, omitted: ReadonlySet<string>): StoredRecord {
  const lists = Object.entries(record).filter(([, value]) => Array.isArray(value) && value.some((item) => omitted.has(item)))
  return lists.length === 0
    ? record
    : { ...record, ...Object.fromEntries(lists.map(([field, list]) => [field, list.filter((item: string) => !omitted.has(item))])) }
}

const EXCLUDED_NOTE =
  'Not exported: tokens, conversations, usage, model recordings and evaluation runs. Secrets are written as references to variables.'

function listSourceNotes(all: readonly NamedRecord[]): string[] {
  const names = all.flatMap(({ name, record }) => ((record as unknown as { type: string }).type === 'file' ? [`"${name}"`] : [])).join(', ')
  return names ? [`Not exported: documents uploaded to ${names}. Upload them again with cadre knowledge documents add.`] : []
}
