/** Converts between ids and names: files refer to resources by name. */
import { createValidationError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { type Fields, KINDS, type ManagedResource, type ReferenceRule } from './kinds.ts'

/** The name of the embedded model in files. */
const EMBEDDED_NAME = 'embedded'

export interface Entry {
  family: ManagedResource
  id: string
  name: string
  /** Distinguishes resources with the same name. */
  key: string
  /** Whether the key comes from a file. */
  hasFileKey: boolean
}

export const formatKeyedName = (name: string, key: string): string => `${name}#${key}`

/** Finds resources by name. A name shared by several resources means the oldest one without a key from a file. */
export class ResourceDirectory {
  readonly #entries = new Map<string, Entry>()
  readonly #byName = new Map<string, Entry[]>()
  readonly #byKey = new Map<string, Entry[]>()

  /** Must be called in order of age. */
  add(entry: Entry): void {
    this.#entries.set(entry.id, entry)
    addToIndex(this.#byName, `${entry.family}/${entry.name}`, entry)
    addToIndex(this.#byKey, `${entry.family}/${formatKeyedName(entry.name, entry.key)}`, entry)
  }

  listByName = (family: ManagedResource, name: string): readonly Entry[] => this.#byName.get(`${family}/${name}`) ?? []

  /** Returns undefined if the name alone is unambiguous; it may also equal the keyed name of another resource. */
  findRequiredKey(id: string): string | undefined {
    const entry = this.#entries.get(id) as Entry
    const isAmbiguous = this.#needsKey(entry) || this.#listKeyRequired(`${entry.family}/${entry.name}`).length > 0
    return isAmbiguous ? entry.key : undefined
  }

  /** Returns the name, with its key if needed. */
  getLabel(id: string): string {
    const { name } = this.#entries.get(id) as Entry
    const key = this.findRequiredKey(id)
    return key === undefined ? name : formatKeyedName(name, key)
  }

  /** Returns an unambiguous name, prefixed with the family if needed. */
  formatReference(id: string, families: readonly ManagedResource[], keywords: readonly string[] = []): string {
    if (id === EMBEDDED_MODEL_ID) return EMBEDDED_NAME
    const entry = this.#entries.get(id)
    if (!entry) return id
    const name = this.getLabel(id)
    const isPlain =
      families.length === 1 &&
      name !== EMBEDDED_NAME &&
      !keywords.includes(name) &&
      !families.some((family) => name.startsWith(`${family}/`))
    return isPlain ? name : `${entry.family}/${name}`
  }

  resolveReference(text: string, families: readonly ManagedResource[], field: string, allowUnknown = false): string {
    if (text === EMBEDDED_NAME && families.includes('models')) return EMBEDDED_MODEL_ID
    const hasFamily = families.some((family) => text.startsWith(`${family}/`))
    const matches = hasFamily ? this.#lookUp(text) : families.flatMap((family) => this.#lookUp(`${family}/${text}`))
    const [first, second] = matches
    if (first && !second) return first.id
    if (first) {
      const labels = matches.map(({ id, family }) => `${family}/${this.getLabel(id)}`)
      throw createValidationError(
        field,
        `"${text}" is ambiguous: ${matches.map(({ id }) => id).join(', ')}`,
        `Use one of: ${labels.join(', ')}.`,
      )
    }
    if (this.#entries.has(text) || allowUnknown) return text
    const nouns = families.map((family) => KINDS.find((kind) => kind.name === family)?.family.noun ?? family)
    throw createValidationError(field, `there is no ${nouns.join(' or ')} "${text}"`, 'Use the name of a declared or existing resource.')
  }

  /** Finds entries by family and name, with or without a key. */
  #lookUp(name: string): readonly Entry[] {
    const keyed = this.#listKeyRequired(name)
    if (keyed.length > 0) return keyed
    const unkeyed = this.#findUnkeyed(name)
    return unkeyed ? [unkeyed] : (this.#byName.get(name) ?? this.#byKey.get(name) ?? [])
  }

  /** Finds the entry that the name alone means. */
  #findUnkeyed(name: string): Entry | undefined {
    const all = this.#byName.get(name) ?? []
    return all.length === 1 ? all[0] : all.find(({ hasFileKey }) => !hasFileKey)
  }

  #needsKey = (entry: Entry): boolean => this.#findUnkeyed(`${entry.family}/${entry.name}`) !== entry

  /** Lists the entries with this keyed name that cannot be found by name alone. */
  #listKeyRequired = (name: string): Entry[] => (this.#byKey.get(name) ?? []).filter((entry) => this.#needsKey(entry))
}

function addToIndex(index: Map<string, Entry[]>, name: string, entry: Entry): void {
  const entries = index.get(name)
  if (entries) entries.push(entry)
  else index.set(name, [entry])
}

export const replaceIdsWithNames = (directory: ResourceDirectory, rules: readonly ReferenceRule[], fields: Fields): Fields =>
  mapReferences(rules, fields, (value, families, { keywords }) => directory.formatReference(value, families, keywords))

export const replaceNamesWithIds = (directory: ResourceDirectory, rules: readonly ReferenceRule[], fields: Fields): Fields =>
  mapReferences(rules, fields, (value, families, { allowUnknown }, field) =>
    directory.resolveReference(value, families, field, allowUnknown),
  )

type MapReference = (value: string, families: readonly ManagedResource[], rule: ReferenceRule, field: string) => string

function mapReferences(rules: readonly ReferenceRule[], fields: Fields, map: MapReference): Fields {
  return rules.reduce((result, rule) => {
    const families = rule.getFamilies(fields)
    if (families.length === 0) return result
    const mapValue = (value: unknown, field: string) =>
      typeof value === 'string' && !rule.keywords?.includes(value) ? map(value, families, rule, field) : value
    return mapPath(result, rule.path, mapValue, '') as Fields
  }, fields)
}

/** Returns a copy with the values at a path replaced. Ignores missing and unexpected values: the contract validates them. */
function mapPath(value: unknown, path: readonly string[], change: (value: unknown, field: string) => unknown, field: string): unknown {
  const [step, ...rest] = path
  if (step === undefined) return change(value, field)
  if (step === '*') return Array.isArray(value) ? value.map((item, index) => mapPath(item, rest, change, `${field}.${index}`)) : value
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return value
  return { ...value, [step]: mapPath((value as Fields)[step], rest, change, field === '' ? step : `${field}.${step}`) }
}
