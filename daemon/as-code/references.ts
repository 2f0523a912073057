/** Names in place of identifiers, and back: files know resources by what people call them. */
import { createValidationError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { type Fields, KINDS, type ManagedResource, type ReferenceRule } from './kinds.ts'

/** What files call the model that every home has, whatever its name. */
const EMBEDDED_NAME = 'embedded'

export interface Entry {
  family: ManagedResource
  id: string
  name: string
  /** Tells it from others of its name. */
  key: string
  /** Whether a file gave it that key. */
  hasFileKey: boolean
}

/** What a resource is called where its name alone means another. */
export const formatKeyedName = (name: string, key: string): string => `${name}#${key}`

/** Who is called what, as far as is known now. Of several with one name, the name alone means the oldest that no file gave a key. */
export class ResourceDirectory {
  readonly #entries = new Map<string, Entry>()
  readonly #byName = new Map<string, Entry[]>()
  readonly #byKey = new Map<string, Entry[]>()

  /** Older ones first. */
  add(entry: Entry): void {
    this.#entries.set(entry.id, entry)
    addToIndex(this.#byName, `${entry.family}/${entry.name}`, entry)
    addToIndex(this.#byKey, `${entry.family}/${formatKeyedName(entry.name, entry.key)}`, entry)
  }

  /** All of a name. */
  listByName = (family: ManagedResource, name: string): readonly Entry[] => this.#byName.get(`${family}/${name}`) ?? []

  /** Undefined where its name alone means it. That may also look like the name and key of another. */
  findRequiredKey(id: string): string | undefined {
    const entry = this.#entries.get(id) as Entry
    const unclear = this.#needsKey(entry) || this.#listKeyRequired(`${entry.family}/${entry.name}`).length > 0
    return unclear ? entry.key : undefined
  }

  /** What it is called, with its key where that is needed. */
  getLabel(id: string): string {
    const { name } = this.#entries.get(id) as Entry
    const key = this.findRequiredKey(id)
    return key === undefined ? name : formatKeyedName(name, key)
  }

  /** A name that means this and nothing else. With its family where several could be meant, or where it could be taken for another word. */
  formatReference(id: string, families: readonly ManagedResource[], words: readonly string[] = []): string {
    if (id === EMBEDDED_MODEL_ID) return EMBEDDED_NAME
    const known = this.#entries.get(id)
    if (!known) return id
    const name = this.getLabel(id)
    const plain =
      families.length === 1 && name !== EMBEDDED_NAME && !words.includes(name) && !families.some((one) => name.startsWith(`${one}/`))
    return plain ? name : `${known.family}/${name}`
  }

  resolveReference(text: string, families: readonly ManagedResource[], field: string, loose = false): string {
    if (text === EMBEDDED_NAME && families.includes('models')) return EMBEDDED_MODEL_ID
    const named = families.find((family) => text.startsWith(`${family}/`))
    const found = named ? this.#lookUp(text) : families.flatMap((family) => this.#lookUp(`${family}/${text}`))
    const [first, another] = found
    if (first && !another) return first.id
    if (first) {
      const spelled = found.map(({ id, family }) => `${family}/${this.getLabel(id)}`)
      throw createValidationError(
        field,
        `"${text}" is the name of several: ${found.map(({ id }) => id).join(', ')}`,
        `Write which one is meant: ${spelled.join(' or ')}.`,
      )
    }
    if (this.#entries.has(text) || loose) return text
    const nouns = families.map((family) => KINDS.find((kind) => kind.name === family)?.family.noun ?? family)
    throw createValidationError(field, `there is no ${nouns.join(' or ')} "${text}"`, 'Name one that is in the files or in this Cadre.')
  }

  /** Who is meant by a family and a name, with a key or without. */
  #lookUp(called: string): readonly Entry[] {
    const inNeed = this.#listKeyRequired(called)
    if (inNeed.length > 0) return inNeed
    const plain = this.#findUnkeyed(called)
    return plain ? [plain] : (this.#byName.get(called) ?? this.#byKey.get(called) ?? [])
  }

  /** Who is meant by the name alone. */
  #findUnkeyed(called: string): Entry | undefined {
    const all = this.#byName.get(called) ?? []
    return all.length === 1 ? all[0] : all.find(({ hasFileKey: given }) => !given)
  }

  #needsKey = (entry: Entry): boolean => this.#findUnkeyed(`${entry.family}/${entry.name}`) !== entry

  /** Those of this name and key whose name alone means another. */
  #listKeyRequired = (called: string): Entry[] => (this.#byKey.get(called) ?? []).filter((entry) => this.#needsKey(entry))
}

function addToIndex(index: Map<string, Entry[]>, called: string, entry: Entry): void {
  const all = index.get(called)
  if (all) all.push(entry)
  else index.set(called, [entry])
}

export const replaceIdsWithNames = (directory: ResourceDirectory, rules: readonly ReferenceRule[], fields: Fields): Fields =>
  mapReferences(rules, fields, (value, families, { keywords: words }) => directory.formatReference(value, families, words))

export const replaceNamesWithIds = (directory: ResourceDirectory, rules: readonly ReferenceRule[], fields: Fields): Fields =>
  mapReferences(rules, fields, (value, families, { allowUnknown: loose }, field) =>
    directory.resolveReference(value, families, field, loose),
  )

type MapReference = (value: string, families: readonly ManagedResource[], rule: ReferenceRule, field: string) => string

function mapReferences(rules: readonly ReferenceRule[], fields: Fields, change: MapReference): Fields {
  return rules.reduce((result, rule) => {
    const families = rule.getFamilies(fields)
    if (families.length === 0) return result
    const one = (value: unknown, field: string) =>
      typeof value === 'string' && !rule.keywords?.includes(value) ? change(value, families, rule, field) : value
    return mapPath(result, rule.path, one, '') as Fields
  }, fields)
}

/** A copy in which what a path leads to is changed; what is not there, or not what the path expects, is for the contract to judge. */
function mapPath(value: unknown, path: readonly string[], change: (value: unknown, field: string) => unknown, field: string): unknown {
  const [step, ...rest] = path
  if (step === undefined) return change(value, field)
  if (step === '*') return Array.isArray(value) ? value.map((item, index) => mapPath(item, rest, change, `${field}.${index}`)) : value
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return value
  return { ...value, [step]: mapPath((value as Fields)[step], rest, change, field === '' ? step : `${field}.${step}`) }
}
