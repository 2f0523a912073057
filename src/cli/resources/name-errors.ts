/** Errors for names that match several resources or none. */
import { CadreError, type ErrorDetail } from '../../contract/errors.ts'
import { findNearest } from '../../contract/suggest.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { formatCell } from '../terminal/format-cell.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { truncate } from '../terminal/text.ts'

export interface FoundResource {
  id: string
  [field: string]: unknown
}

/** A name and where it was searched for. */
export interface NameQuery {
  value: string
  /** Expected kind, such as agent. */
  noun: string
  /** The field that holds the name. */
  label: string
  /** CLI topics of the families that were searched. */
  commands: readonly string[]
}

const MAX_LISTED = 5
const MAX_SUGGESTIONS = 3
const MAX_DESCRIPTION_COLUMNS = 50

/** Fields that distinguish resources of the same name, in order of preference. */
const TRAITS: Record<string, (value: unknown) => string> = {
  description: (value) => `"${truncate(formatCell(value), MAX_DESCRIPTION_COLUMNS)}"`,
  agent_id: (value) => `agent ${formatCell(value)}`,
  model_id: (value) => (value === null ? 'the default model' : `model ${formatCell(value)}`),
  knowledge_source_id: (value) => `knowledge source ${formatCell(value)}`,
  tools: (value) => formatCount((value as unknown[]).length, 'tool').replace(/^0 /, 'no '),
  type: formatCell,
  provider: formatCell,
  method: formatCell,
  url: formatCell,
  search_method: formatCell,
  role: formatCell,
  user_id: (value) => `user ${formatCell(value)}`,
  status: formatCell,
  updated_at: (value) => `updated ${formatCell(value)}`,
}
const MAX_TRAITS = 2

/** Lists the matches with their differences and repeats the command with the ID of one of them. */
export function createAmbiguousNameError(
  found: readonly FoundResource[],
  total: number,
  { value, noun, label, commands }: NameQuery,
  typed?: readonly string[],
): UsageError {
  const [first] = found
  const traits = Object.keys(TRAITS).filter((field) => new Set(found.map((resource) => JSON.stringify(resource[field] ?? null))).size > 1)
  const details: ErrorDetail[] = found.slice(0, MAX_LISTED).map((resource) => ({
    field: resource.id,
    problem: [
      ...('created_at' in resource ? [`created ${formatCell(resource.created_at)}`] : []),
      ...traits
        .filter((field) => resource[field] !== undefined && resource[field] !== '' && (resource[field] !== null || field === 'model_id'))
        .slice(0, MAX_TRAITS)
        .map((field) => TRAITS[field]?.(resource[field]) ?? ''),
    ].join(', '),
  }))
  const retry = first && formatRetry(value, first.id, typed)
  const use = retry === undefined ? 'Use the ID of one of them.' : `Use the ID of one of them: ${retry}`
  const more =
    total > details.length
      ? `\n${total - details.length} more: cadre ${commands[0]} list --filter ${quoteShellWord(`${label}=${value}`)}`
      : ''
  return new UsageError(`${total} ${noun}s are named "${value}".`, `${use}${more}`, details)
}

/** Suggests similar names. */
export function createUnknownNameError({ value, noun, commands }: NameQuery, known: readonly string[]): CadreError {
  const near = findNearest(value, known, MAX_SUGGESTIONS).map((name) => `"${name}"`)
  const meant = near.length > 1 ? `${near.slice(0, -1).join(', ')} or ${near.at(-1)}` : near[0]
  const lists = `To list all: ${[...new Set(commands)].map((command) => `cadre ${command} list`).join(' or ')}`
  return new CadreError('NOT_FOUND', `There is no ${noun} "${value}".`, {
    hint: meant === undefined ? lists : `Did you mean ${meant}? ${lists}`,
  })
}

/** Commands with these flags are not repeated in messages. */
const SECRET_FLAG = /^(--.*(key|token|secret|password|bearer|credential|auth|header).*|-H)$/

/** Repeats the command with the ID instead of the name. Returns undefined if the name is ambiguous or the command contains a secret. */
function formatRetry(name: string, id: string, typed: readonly string[] = process.argv.slice(2)): string | undefined {
  const isName = (word: string) => word === name || (word.startsWith('--') && word.endsWith(`=${name}`))
  if (typed.filter(isName).length !== 1 || typed.some((word) => SECRET_FLAG.test(word.split('=')[0] ?? ''))) return undefined
  return ['cadre', ...typed.map((word) => quoteShellWord(isName(word) ? word.slice(0, word.length - name.length) + id : word))].join(' ')
}
