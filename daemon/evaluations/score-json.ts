/** Scores an answer that should be JSON: the share of what is expected that is there, whatever the order of fields. */
import { exceedsDepth } from '../validation/json-depth.ts'

export interface JsonScore {
  score: number
  reason?: string
}

/** Whoever compares goes down as deep as what is expected, and a call within a call has an end. */
const MAX_DEPTH = 500

/** Throws where a text is not JSON that answers can be held against. */
export function checkJson(text: string): void {
  if (exceedsDepth(JSON.parse(text), MAX_DEPTH)) throw new SyntaxError(`It is nested more than ${MAX_DEPTH} levels deep.`)
}

export function scoreJson(expected: string, actual: string): JsonScore {
  const wanted = JSON.parse(expected) as unknown
  const found = extractJson(actual)
  if (found === undefined) return { score: 0, reason: 'The answer holds no JSON.' }
  const leaves = [...listLeaves(wanted, [])]
  const missing = leaves.filter(({ path, value }) => !isEqualJson(getValueAt(found.value, path), value))
  if (missing.length === 0) {
    return isEqualJson(wanted, found.value)
      ? { score: 1 }
      : { score: leaves.length / (leaves.length + 1), reason: 'The answer holds more than was expected.' }
  }
  const names = missing.slice(0, 5).map(({ path }) => path.join('.') || 'the value')
  return {
    score: (leaves.length - missing.length) / leaves.length,
    reason: `Different: ${names.join(', ')}${missing.length > 5 ? ' and more' : ''}.`,
  }
}

/** What an answer holds of JSON: all of it, a fenced block, or the first object or list that stands in it. */
export function extractJson(text: string): { value: unknown } | undefined {
  const open = text.search(/[[{]/)
  const close = Math.max(text.lastIndexOf('}'), text.lastIndexOf(']'))
  const candidates = [text, extractFencedBlock(text), open >= 0 && close > open ? text.slice(open, close + 1) : undefined]
  for (const candidate of candidates) {
    if (candidate === undefined) continue
    try {
      return { value: JSON.parse(candidate) as unknown }
    } catch {
      // the next candidate may be better
    }
  }
  return undefined
}

/** Line by line: a pattern would try every way to split a row of empty lines, and a model may write thousands. */
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
