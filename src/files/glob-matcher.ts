/** Matches paths against a glob in time proportional to the product of their lengths, whatever the glob. */

export type PathTest = (path: string) => boolean

type Token =
  | { kind: 'character'; character: string }
  | { kind: 'set'; includes(character: string): boolean }
  | { kind: 'star' }
  /** Any number of folders: two stars before a slash. */
  | { kind: 'folders' }
  /** Everything below: two stars at the end. `folder/**` also matches the folder. */
  | { kind: 'below'; hasSlash: boolean }
  | { kind: 'choice'; options: Token[][] }

/** A state of the automaton: consumes a character, continues without one, or ends. States are numbered. */
type State = { consumes(character: string): boolean; next: number } | { targets: number[]; isWildcard: boolean } | 'end'

const isNoSlash = (character: string): boolean => character !== '/'
const isAny = (): boolean => true

/**
 * Supports `*`, `**`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `{1..9}` and `\` before a special character. Wildcards match a leading dot
 * only if `dot`. A regular expression would backtrack: 60 characters against 40 alternatives take forever.
 */
export function compileGlob(glob: string, dot: boolean): PathTest {
  const states: State[] = ['end']
  const start = buildStates(states, parseGlob(glob), 0)
  const automaton = new Automaton(states, start, dot)
  return (path) => automaton.accepts(path)
}

/** Whether a glob has characters with a special meaning. */
export const hasWildcards = (glob: string): boolean => /[*?[{\\]/.test(glob)

/** Paths have few different characters and prefixes, so few steps are needed again. A step of a long glob can have hundreds of states. */
const MAX_CACHED_STATES = 20_000

/** The states that are possible after some characters of a path. */
interface Step {
  states: readonly number[]
  isSegmentStart: boolean
  /** Whether the path may end here. */
  isEnd: boolean
  next: Map<string, Step>
}

/** Follows all possible states at once. Steps are computed when first needed and cached. */
class Automaton {
  readonly #states: readonly State[]
  readonly #dot: boolean
  readonly #start: number
  #first: Step | undefined
  #steps = new Map<string, Step>()
  #cachedStates = 0

  constructor(states: readonly State[], start: number, dot: boolean) {
    this.#states = states
    this.#start = start
    this.#dot = dot
  }

  accepts(path: string): boolean {
    this.#first ??= this.#getStep([this.#start], true)
    let step = this.#first
    for (const character of path) {
      step = step.next.get(character) ?? this.#computeNext(step, character)
      if (step.states.length === 0) return false
    }
    return step.isEnd
  }

  #computeNext(step: Step, character: string): Step {
    this.#cachedStates += 1 + step.states.length
    if (this.#cachedStates > MAX_CACHED_STATES) {
      this.#steps = new Map()
      this.#first = undefined
      this.#cachedStates = 0
    }
    const isHidden = !this.#dot && step.isSegmentStart && character === '.'
    const states = new Set<number>()
    for (const state of this.#expand(step.states, isHidden))
      if (state !== 'end' && 'next' in state && state.consumes(character)) states.add(state.next)
    const next = this.#getStep([...states], character === '/')
    step.next.set(character, next)
    return next
  }

  #getStep(states: readonly number[], isSegmentStart: boolean): Step {
    const key = `${isSegmentStart} ${[...states].sort((a, b) => a - b).join(' ')}`
    const known = this.#steps.get(key)
    if (known) return known
    const step = { states, isSegmentStart, isEnd: this.#expand(states, false).includes('end'), next: new Map<string, Step>() }
    this.#steps.set(key, step)
    return step
  }

  /** Follows the states that consume nothing. */
  #expand(first: readonly number[], isHidden: boolean): State[] {
    const seen = new Set<number>()
    const open = [...first]
    const expanded: State[] = []
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (seen.has(index)) continue
      seen.add(index)
      const state = this.#states[index] as State
      if (state === 'end' || 'next' in state) expanded.push(state)
      else if (!(state.isWildcard && isHidden)) open.push(...state.targets)
    }
    return expanded
  }
}

/** Builds from the last token to the first, so that each state knows its successor. Returns the first state. */
function buildStates(states: State[], tokens: readonly Token[], last: number): number {
  const add = (state: State): number => states.push(state) - 1
  const consume = (consumes: (character: string) => boolean, next: number) => add({ consumes, next })
  /** Repeats any number of characters; the entry fails at the dot of a hidden name. */
  const repeat = (consumes: (character: string) => boolean, next: number): number => {
    const targets: number[] = []
    const entry = add({ targets, isWildcard: true })
    targets.push(next, consume(consumes, entry))
    return entry
  }
  const isSlash = (character: string) => character === '/'
  return tokens.reduceRight((next, token): number => {
    if (token.kind === 'character') return consume((character) => character === token.character, next)
    if (token.kind === 'set') return add({ targets: [consume(token.includes, next)], isWildcard: true })
    if (token.kind === 'star') return repeat(isNoSlash, next)
    if (token.kind === 'choice')
      return add({ targets: token.options.map((option) => buildStates(states, option, next)), isWildcard: false })
    if (token.kind === 'folders') {
      const targets: number[] = []
      const entry = add({ targets, isWildcard: false })
      targets.push(next, repeat(isNoSlash, consume(isSlash, entry)))
      return entry
    }
    const below = repeat(isAny, next)
    return token.hasSlash ? add({ targets: [next, consume(isSlash, below)], isWildcard: false }) : below
  }, last)
}

function parseGlob(glob: string): Token[] {
  const tokens: Token[] = []
  for (let index = 0; index < glob.length; ) {
    const rest = glob.slice(index)
    const stars = /^\*+/.exec(rest)?.[0].length ?? 0
    const after = rest[stars]
    if (stars > 1 && (index === 0 || glob[index - 1] === '/') && (after === undefined || after === '/')) {
      if (after === '/') tokens.push({ kind: 'folders' })
      else tokens.push({ kind: 'below', hasSlash: removeSlash(tokens) })
      index += stars + 1
      continue
    }
    const { token, length } = stars > 0 ? { token: STAR, length: stars } : (parseSet(rest) ?? parseBraces(rest) ?? parseCharacter(rest))
    tokens.push(token)
    index += length
  }
  return tokens
}

/** After a star, only contents match: two stars below `*` must not exclude the files beside the folders. */
function removeSlash(tokens: Token[]): boolean {
  const [before, last] = tokens.slice(-2)
  const isOptional = before !== undefined && before.kind !== 'star' && last?.kind === 'character' && last.character === '/'
  if (isOptional) tokens.pop()
  return isOptional
}

interface ParsedToken {
  token: Token
  /** Characters of the glob. */
  length: number
}

const STAR: Token = { kind: 'star' }

/** Parses `?`, a character, or one after a backslash. */
function parseCharacter(text: string): ParsedToken {
  // By code points: one emoji is one character.
  const [first = '', second] = text
  if (first === '?') return { token: { kind: 'set', includes: isNoSlash }, length: 1 }
  if (first === '\\' && second !== undefined) return { token: { kind: 'character', character: second }, length: 1 + second.length }
  return { token: { kind: 'character', character: first }, length: first.length }
}

/** Parses a set of characters such as [a-z]. Returns undefined if the text does not start with one. */
function parseSet(text: string): ParsedToken | undefined {
  const [whole, negation, body] = /^\[([!^]?)(\]?[^\]/]*)\]/.exec(text) ?? []
  if (whole === undefined || !body) return undefined
  const characters = Array.from(body.replaceAll(/\\(.)/g, '$1'))
  const ranges: [string, string][] = []
  for (let index = 0; index < characters.length; index++) {
    const first = characters[index] as string
    const isRange = characters[index + 1] === '-' && characters[index + 2] !== undefined
    ranges.push([first, isRange ? (characters[index + 2] as string) : first])
    if (isRange) index += 2
  }
  const isInRange = (character: string) => ranges.some(([first, last]) => first <= character && character <= last)
  const includes = (character: string) => character !== '/' && isInRange(character) === (negation === '')
  return { token: { kind: 'set', includes }, length: whole.length }
}

/** A range of numbers may have as many options as this. */
const MAX_NUMBERS = 100

/** Parses alternatives such as {a,b} or {1..9}. Returns undefined if the text does not start with them. */
function parseBraces(text: string): ParsedToken | undefined {
  if (text[0] !== '{') return undefined
  const options: string[] = []
  let depth = 0
  let from = 1
  for (let index = 0; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === '{') depth++
    else if (text[index] === ',' && depth === 1) from = options.push(text.slice(from, index)) && index + 1
    else if (text[index] === '}' && --depth === 0) {
      options.push(text.slice(from, index))
      const expanded = options.length > 1 ? options : expandRange(options[0] as string)
      return expanded && { token: { kind: 'choice', options: expanded.map(parseGlob) }, length: index + 1 }
    }
  }
  return undefined
}

function expandRange(text: string): string[] | undefined {
  const [, low, high] = /^(\d{1,9})\.\.(\d{1,9})$/.exec(text) ?? []
  const [, first, last] = /^([a-zA-Z])\.\.([a-zA-Z])$/.exec(text) ?? []
  const [start, end] = low && high ? [Number(low), Number(high)] : [first?.charCodeAt(0) ?? 1, last?.charCodeAt(0) ?? 0]
  if (end < start || end - start >= MAX_NUMBERS) return undefined
  return Array.from({ length: end - start + 1 }, (_, index) => (low ? String(start + index) : String.fromCharCode(start + index)))
}
