/** Names in place of identifiers, and back: files know resources by what people call them. */
import { createValidationError } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID } from '../../src/contract/families/models.ts'
import { type Fields, KINDS, type ManagedResource, type ReferenceRule } from './kinds.ts'

/** What files call the model that every home has, whatever its name. */
const EMBEDDED = 'embedded'

export interface Entry {
  family: ManagedResource
  id: string
  name: string
  /** Tells it from others of its name. */
  key: string
  /** Whether a file gave it that key. */
  given: boolean
}

/** What a resource is called where its name alone means another. */
export const withKey = (name: string, key: string): string => `${name}#${key}`

/** Who is called what, as far as is known now. Of several with one name, the name alone means the oldest that no file gave a key. */
export class Directory {
  readonly #entries = new Map<string, Entry>()
  readonly #named = new Map<string, Entry[]>()
  readonly #keyed = new Map<string, Entry[]>()

  /** Older ones first. */
  add(entry: Entry): void {
    this.#entries.set(entry.id, entry)
    indexed(this.#named, `${entry.family}/${entry.name}`, entry)
    indexed(this.#keyed, `${entry.family}/${withKey(entry.name, entry.key)}`, entry)
  }

  /** All of a name. */
  called = (family: ManagedResource, name: string): readonly Entry[] => this.#named.get(`${family}/${name}`) ?? []

  /** Undefined where its name alone means it. That may also look like the name and key of another. */
  keyOf(id: string): string | undefined {
    const entry = this.#entries.get(id) as Entry
    const unclear = this.#needsKey(entry) || this.#inNeed(`${entry.family}/${entry.name}`).length > 0
    return unclear ? entry.key : undefined
  }

  /** What it is called, with its key where that is needed. */
  label(id: string): string {
    const { name } = this.#entries.get(id) as Entry
    const key = this.keyOf(id)
    return key === undefined ? name : withKey(name, key)
  }

  /** A name that means this and nothing else. With its family where several could be meant, or where it could be taken for another word. */
  spelled(id: string, families: readonly ManagedResource[], words: readonly string[] = []): string {
    if (id === EMBEDDED_MODEL_ID) return EMBEDDED
    const known = this.#entries.get(id)
    if (!known) return id
    const name = this.label(id)
    const plain = families.length === 1 && name !== EMBEDDED && !words.includes(name) && !families.some((one) => name.startsWith(`${one}/`))
    return plain ? name : `${known.family}/${name}`
  }

  resolved(text: string, families: readonly ManagedResource[], field: string, loose = false): string {
    if (text === EMBEDDED && families.includes('models')) return EMBEDDED_MODEL_ID
    const named = families.find((family) => text.startsWith(`${family}/`))
    const found = named ? this.#meant(text) : families.flatMap((family) => this.#meant(`${family}/${text}`))
    const [first, another] = found
    if (first && !another) return first.id
    if (first) {
      const spelled = found.map(({ id, family }) => `${family}/${this.label(id)}`)
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
  #meant(called: string): readonly Entry[] {
    const inNeed = this.#inNeed(called)
    if (inNeed.length > 0) return inNeed
    const plain = this.#plain(called)
    return plain ? [plain] : (this.#named.get(called) ?? this.#keyed.get(called) ?? [])
  }

  /** Who is meant by the name alone. */
  #plain(called: string): Entry | undefined {
    const all = this.#named.get(called) ?? []
    return all.length === 1 ? all[0] : all.find(({ given }) => !given)
  }

  #needsKey = (entry: Entry): boolean => this.#plain(`${entry.family}/${entry.name}`) !== entry

  /** Those of this name and key whose name alone means another. */
  #inNeed = (called: string): Entry[] => (this.#keyed.get(called) ?? []).filter((entry) => this.#needsKey(entry))
}

function indexed(index: Map<string, Entry[]>, called: string, entry: Entry): void {
  const all = index.get(called)
  if (all) all.push(entry)
  else index.set(called, [entry])
}

export const withNames = (directory: Directory, rules: readonly ReferenceRule[], fields: Fields): Fields =>
  mapped(rules, fields, (value, families, { words }) => directory.spelled(value, families, words))

export const withIdentifiers = (directory: Directory, rules: readonly ReferenceRule[], fields: Fields): Fields =>
  mapped(rules, fields, (value, families, { loose }, field) => directory.resolved(value, families, field, loose))

type Change = (value: string, families: readonly ManagedResource[], rule: ReferenceRule, field: string) => string

function mapped(rules: readonly ReferenceRule[], fields: Fields, change: Change): Fields {
  return rules.reduce((result, rule) => {
    const families = rule.to(fields)
    if (families.length === 0) return result
    const one = (value: unknown, field: string) =>
      typeof value === 'string' && !rule.words?.includes(value) ? change(value, families, rule, field) : value
    return within(result, rule.path, one, '') as Fields
  }, fields)
}

/** A copy in which what a path leads to is changed; what is not there, or not what the path expects, is for the contract to judge. */
function within(value: unknown, path: readonly string[], change: (value: unknown, field: string) => unknown, field: string): unknown {
  const [step, ...rest] = path
  if (step === undefined) return change(value, field)
  if (step === '*') return Array.isArray(value) ? value.map((item, index) => within(item, rest, change, `${field}.${index}`)) : value
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, step)) return value
  return { ...value, [step]: within((value as Fields)[step], rest, change, field === '' ? step : `${field}.${step}`) }
}
