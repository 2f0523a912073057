/** Scores a JSON answer by the share of expected values it contains. */
import { exceedsDepth } from '../validation/json-depth.ts'

/** Further figures are stored with the result too. */
export interface Score {
  score: number
  reason?: string
}

/** Bounds the recursion of comparisons. */
const MAX_DEPTH = 500

/** Throws a SyntaxError if the text is not JSON or is nested too deeply. */
export function checkJson(text: string): void {
  if (exceedsDepth(JSON.parse(text), MAX_DEPTH)) throw new SyntaxError(`The JSON is nested more than ${MAX_DEPTH} levels deep.`)
}

export function scoreJson(expected: string, actual: string): Score {
  const expectedValue = JSON.parse(expected) as unknown
  const actualJson = extractJson(actual)
  if (actualJson === undefined) return { score: 0, reason: 'The answer contains no JSON.' }
  const leaves = [...listLeaves(expectedValue, [])]
  const missing = leaves.filter(({ path, value }) => !isEqualJson(getValueAt(actualJson.value, path), value))
  if (missing.length === 0) {
    return isEqualJson(expectedValue, actualJson.value)
      ? { score: 1 }
      : { score: leaves.length / (leaves.length + 1), reason: 'The answer contains more than the expected values.' }
  }
  const names = missing.slice(0, 5).map(({ path }) => path.join('.') || 'value')
  return {
    score: (leaves.length - missing.length) / leaves.length,
    reason: `Different: ${names.join(', ')}${missing.length > 5 ? ' and more' : ''}.`,
  }
}

/** Parses the whole text, a fenced block, or everything from the first to the last bracket. */
export function extractJson(text: string): { value: unknown } | undefined {
  const open = text.search(/[[{]/)
  const close = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  const candidates = [text, extractFencedBlock(text), open >= 0 && close > open ? text.slice(open, close + 1) : undefined]
  for (const candidate of candidates) {
    if (candidate === undefined) continue
    try {
      return { value: JSON.parse(candidate) as unknown }
    } catch {
      // try the next candidate
    }
  }
  return undefined
}

/** Works line by line: a regular expression would backtrack over long runs of empty lines. */
function extractFencedBlock(text: string): string | undefined {
  const lines = text.split('\n')
  const open = lines.findIndex((line) => /```(?:json)?$/i.test(line.trimEnd()))
  const close = lines.findIndex((line, index) => index > open && line.trimStart().startsWith('```'))
  return open < 0 || close < 0 ? undefined : lines.slice(open + 1, close).join('\n')
}

interface Leaf {
  path: (string | number)[]
  value: unknown
}

function* listLeaves(value: unknown, path: (string | number)[]): Generator<Leaf> {
  if (value === null || typeof value !== 'object' || Object.keys(value).length === 0) yield { path, value }
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) yield* listLeaves(item, [...path, index])
  else for (const [name, item] of Object.entries(value)) yield* listLeaves(item, [...path, name])
}

function getValueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let current = value
  for (const part of path) {
    if (current === null || typeof current !== 'object' || !Object.hasOwn(current, part)) return undefined
    current = (current as Record<string | number, unknown>)[part]
  }
  return current
}

function isEqualJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (a === null || b === null || typeof a !== 'object' || typeof b !== 'object' || Array.isArray(a) !== Array.isArray(b)) return false
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every(
    (name) => Object.hasOwn(b, name) && isEqualJson((a as Record<string, unknown>)[name], (b as Record<string, unknown>)[name]),
  )
}
