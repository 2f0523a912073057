/** Names in place of identifiers, and back: files know resources by what people call them. */
import { invalid } from '../../src/contract/errors.ts'
import { EMBEDDED_MODEL_ID } from '../../src/contract/models.ts'
import { type Fields, KINDS, type ManagedResource, type ReferenceRule } from './kinds.ts'

/** What files call the model that every home has, whatever its name. */
const EMBEDDED = 'embedded'

/** Who is called what, as far as is known now. */
export class Directory {
  readonly #names = new Map<string, { family: ManagedResource; name: string }>()
  readonly #ids = new Map<string, string[]>()

  add(family: ManagedResource, id: string, name: string): void {
    this.#names.set(id, { family, name })
    const key = `${family}/${name}`
    this.#ids.set(key, [...this.#of(key), id])
  }

  /** Who is called so. */
  called = (family: ManagedResource, name: string): string[] => this.#of(`${family}/${name}`)

  /** A name that means this and nothing else. With its family where several could be meant, or where it could be taken for another word. */
  spelled(id: string, families: readonly ManagedResource[], words: readonly string[] = []): string {
    if (id === EMBEDDED_MODEL_ID) return EMBEDDED
    const known = this.#names.get(id)
    if (!known) return id
    const { family, name } = known
    const plain = families.length === 1 && name !== EMBEDDED && !words.includes(name) && !families.some((one) => name.startsWith(`${one}/`))
    return plain ? name : `${family}/${name}`
  }

  resolved(text: string, families: readonly ManagedResource[], field: string, loose = false): string {
    if (text === EMBEDDED && families.includes('models')) return EMBEDDED_MODEL_ID
    const named = families.find((family) => text.startsWith(`${family}/`))
    const found = named ? this.#of(text) : families.flatMap((family) => this.called(family, text))
    const [id, another] = found
    if (id !== undefined && another === undefined) return id
    if (id !== undefined)
      throw invalid(field, `"${text}" is the name of several: ${found.join(', ')}`, 'Write the family before it, such as rag-tools/handbook, or rename one.')
    if (this.#names.has(text) || loose) return text
    const nouns = families.map((family) => KINDS.find((kind) => kind.name === family)?.family.noun ?? family)
    throw invalid(field, `there is no ${nouns.join(' or ')} "${text}"`, 'Name one that is in the files or in this Cadre.')
  }

  #of = (key: string): string[] => this.#ids.get(key) ?? []
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
    const one = (value: unknown, field: string) => (typeof value === 'string' && !rule.words?.includes(value) ? change(value, families, rule, field) : value)
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
