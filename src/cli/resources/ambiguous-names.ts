/** What is told of a name that means several resources, or none. */
import { CadreError, type ErrorDetail } from '../../contract/errors.ts'
import { findNearest } from '../../contract/suggest.ts'
import { UsageError } from '../terminal/errors.ts'
import { formatCell } from '../terminal/format-cell.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { truncate } from '../terminal/text.ts'

export interface FoundResource {
  id: string
  [field: string]: unknown
}

/** A name, and what it was looked for among. */
export interface NameQuery {
  value: string
  /** What it should be, such as agent. */
  noun: string
  /** The field that holds the name. */
  label: string
  /** The words after cadre, of each family it was looked for in. */
  commands: readonly string[]
}

const MAX_LISTED = 5
const MAX_SUGGESTIONS = 3
const MAX_DESCRIPTION_COLUMNS = 50

/** What tells two of a kind apart, in the words of a sentence; the first that differ are told. */
const TRAITS: Record<string, (value: unknown) => string> = {
  description: (value) => `"${truncate(formatCell(value), MAX_DESCRIPTION_COLUMNS)}"`,
  agent_id: (value) => `agent ${formatCell(value)}`,
  model_id: (value) => (value === null ? 'the default model' : `model ${formatCell(value)}`),
  knowledge_source_id: (value) => `knowledge source ${formatCell(value)}`,
  tools: (value) => formatToolCount((value as unknown[]).length),
  type: formatCell,
  provider: formatCell,
  method: formatCell,
  url: formatCell,
  search_method: formatCell,
  role: formatCell,
  user_id: (value) => `user ${formatCell(value)}`,
  status: formatCell,
  updated_at: (value) => `changed ${formatCell(value)}`,
}
const MAX_TRAITS = 2

const formatToolCount = (count: number) => `${count === 0 ? 'no' : count} tool${count === 1 ? '' : 's'}`

/** Several are called that: which ones, what tells them apart, and the same command for one of them. */
export function createAmbiguousNameError(
  found: readonly FoundResource[],
  total: number,
  { value, noun, label, commands }: NameQuery,
  typed?: readonly string[],
): UsageError {
  const [first] = found
  const traits = Object.keys(TRAITS).filter((field) => new Set(found.map((one) => JSON.stringify(one[field] ?? null))).size > 1)
  const details: ErrorDetail[] = found.slice(0, MAX_LISTED).map((one) => ({
    field: one.id,
    problem: [
      ...('created_at' in one ? [`created ${formatCell(one.created_at)}`] : []),
      ...traits
        .filter((field) => one[field] !== undefined && one[field] !== '' && (one[field] !== null || field === 'model_id'))
        .slice(0, MAX_TRAITS)
        .map((field) => TRAITS[field]?.(one[field]) ?? ''),
    ].join(', '),
  }))
  const again = first && formatRetry(value, first.id, typed)
  const use = again === undefined ? 'Use the identifier of the one you mean.' : `Use the identifier of the one you mean: ${again}`
  const more =
    total > details.length
      ? `\n${total - details.length} more: cadre ${commands[0]} list --filter ${quoteShellWord(`${label}=${value}`)}`
      : ''
  return new UsageError(`${total} ${noun}s are called "${value}".`, `${use}${more}`, details)
}

/** Nothing is called that; what is called nearly so was perhaps meant. */
export function createUnknownNameError({ value, noun, commands }: NameQuery, known: readonly string[]): CadreError {
  const near = findNearest(value, known, MAX_SUGGESTIONS).map((name) => `"${name}"`)
  const meant = near.length > 1 ? `${near.slice(0, -1).join(', ')} or ${near.at(-1)}` : near[0]
  const lists = `${commands.map((command) => `cadre ${command} list`).join(' or ')} shows what there is.`
  return new CadreError('NOT_FOUND', `There is no ${noun} "${value}".`, {
    hint: meant === undefined ? lists : `Did you mean ${meant}? ${lists}`,
  })
}

/** Values of these are nobody's to see twice. */
const SECRET_FLAG = /^(--.*(key|token|secret|password|bearer|credential|auth|header).*|-H)$/

/** The command as it was typed, with the identifier in place of the name; undefined where the name stands elsewhere, or a secret does. */
function formatRetry(name: string, id: string, typed: readonly string[] = process.argv.slice(2)): string | undefined {
  const isName = (word: string) => word === name || (word.startsWith('--') && word.endsWith(`=${name}`))
  if (typed.filter(isName).length !== 1 || typed.some((word) => SECRET_FLAG.test(word.split('=')[0] ?? ''))) return undefined
  return ['cadre', ...typed.map((word) => quoteShellWord(isName(word) ? word.slice(0, word.length - name.length) + id : word))].join(' ')
}
