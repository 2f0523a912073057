/** Parses what the user types when a tool call needs a confirmation. */
import { isObject } from '../input/input-reader.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

export type Arguments = Record<string, unknown>

export interface Confirmation {
  allow: boolean
  /** Allows all further calls, by this agent or by all. */
  always?: 'agent' | 'all'
}

/** Returns undefined for an unknown answer. */
export function parseConfirmation(answer: string): Confirmation | undefined {
  if (/^y(es)?$/i.test(answer)) return { allow: true }
  if (/^no?$/i.test(answer)) return { allow: false }
  if (/^(t|tool|always|always tool)$/i.test(answer)) return { allow: true, always: 'all' }
  return /^(a|agent|always agent)$/i.test(answer) ? { allow: true, always: 'agent' } : undefined
}

export function parseArguments(text: string): Arguments {
  let values: unknown
  try {
    values = JSON.parse(text)
  } catch (error) {
    throw new UsageError(`The arguments are not valid JSON: ${(error as Error).message}. They are unchanged.`)
  }
  if (isObject(values)) return values
  throw new UsageError('The arguments must be a JSON object, such as {"id": 42}. They are unchanged.')
}
