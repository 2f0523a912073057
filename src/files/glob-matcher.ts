/** Matches paths against globs. The work is proportional to the product of their lengths, whatever the glob. */

export type PathTest = (path: string) => boolean

type CharacterTest = (character: string) => boolean

/** Visits each state that can follow at a position of the path, with the position after it. */
type State = (path: string, at: number, visit: (state: number, at: number) => void) => void

/** Adds the states of a part of the glob before the state `next`. Returns the first of them. */
type Part = (automaton: Automaton, next: number) => number

/**
 * Supports `*`, `**`, `?`, `[a-z]`, `[!a-z]`, `{a,b}`, `{1..9}` and `\` before a special character. Wildcards match a leading dot
 * only if `dot`. A regular expression would backtrack: 60 characters against 40 alternatives take forever.
 */
export function compileGlob(glob: string, dot: boolean): PathTest {
  const automaton = new Automaton(dot)
  const start = automaton.addParts(parseGlob(glob), END)
  return (path) => automaton.accepts(path, start)
}

/** Whether a glob has characters with a special meaning. */
export const hasWildcards = (glob: string): boolean => /[*?[{\\]/.test(glob)

const END = 0
const isAny: CharacterTest = () => true
const isNoSlash: CharacterTest = (character) => character !== '/'

class Automaton {
  readonly #states: State[] = [() => {}]
  readonly #dot: boolean

  constructor(dot: boolean) {
    this.#dot = dot
  }

  /** Visits each state at most once at each position of the path. */
  accepts(path: string, start: number): boolean {
    const size = path.length + 1
    const isSeen = new Uint8Array(this.#states.length * size)
    const open: number[] = []
    const visit = (state: number, at: number) => {
      const index = state * size + at
      if (isSeen[index] === 0) open.push(index)
      isSeen[index] = 1
    }
    visit(start, 0)
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (index === END * size + path.length) return true
      this.#states[Math.floor(index / size)]?.(path, index % size, visit)
    }
    return false
  }

  /** Adds from the last part to the first, so that each state knows its successor. */
  addParts(parts: readonly Part[], next: number): number {
    return parts.reduceRight((following, part) => part(this, following), next)
  }

  addText(text: string, next: number): number {
    return this.#add((path, at, visit) => {
      if (path.startsWith(text, at)) visit(next, at + text.length)
    })
  }

  addChoice(targets: readonly number[]): number {
    return this.#add((_, at, visit) => {
      for (const target of targets) visit(target, at)
    })
  }

  addCharacter(accepts: CharacterTest, next: number): number {
    return this.#addWildcard((path, at, visit) => {
      const character = readCharacter(path, at)
      if (character !== '' && isNoSlash(character) && accepts(character)) visit(next, at + character.length)
    })
  }

  /** Adds any number of characters. */
  addRepeat(accepts: CharacterTest, next: number): number {
    const state = this.#addWildcard((path, at, visit) => {
      const character = readCharacter(path, at)
      visit(next, at)
      if (accepts(character)) visit(state, at + character.length)
    })
    return state
  }

  /** Adds any number of folders, hidden ones only if `dot`. */
  addFolders(next: number): number {
    const state = this.#add((path, at, visit) => {
      visit(next, at)
      const end = path.indexOf('/', at)
      if (end >= 0 && (this.#dot || path[at] !== '.')) visit(state, end + 1)
    })
    return state
  }

  /** Adds the numbers of a range, without leading zeros. */
  addNumber(low: number, high: number, next: number): number {
    return this.#add((path, at, visit) => {
      const digits = /^(?:0|[1-9]\d*)/.exec(path.slice(at, at + 9))?.[0] ?? ''
      for (let length = 1; length <= digits.length; length++) {
        const number = Number(digits.slice(0, length))
        if (low <= number && number <= high) visit(next, at + length)
      }
    })
  }

  /** Adds a state that does not match the dot of a hidden name. */
  #addWildcard(state: State): number {
    return this.#add((path, at, visit) => {
      const isHidden = path[at] === '.' && (at === 0 || path[at - 1] === '/')
      if (this.#dot || !isHidden) state(path, at, visit)
    })
  }

  #add(state: State): number {
    return this.#states.push(state) - 1
  }
}

/** Reads a code point: one emoji is one character. */
const readCharacter = (path: string, at: number) => path.slice(at, at + ((path.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1))

/** The first pattern that matches at a position of the glob tells its part. */
const PARTS: readonly (readonly [pattern: RegExp, create: (...groups: [string, string]) => Part])[] = [
  [/(?<=^|\/)\*{2,}\//y, () => (automaton, next) => automaton.addFolders(next)],
  // Matches the folder too, but not after a star: everything below `*` must not include the files beside the folders.
  [
    /(?<=[^*]|\\\*)\/\*{2,}$/y,
    () => (automaton, next) => automaton.addChoice([next, automaton.addText('/', automaton.addRepeat(isAny, next))]),
  ],
  [/(?<=^|\/)\*{2,}$/y, () => (automaton, next) => automaton.addRepeat(isAny, next)],
  [/\*+/y, () => (automaton, next) => automaton.addRepeat(isNoSlash, next)],
  [/\?/y, () => (automaton, next) => automaton.addCharacter(isAny, next)],
  [/\[([!^]?)(\]?[^\]/]+|\])\]/y, (negation, set) => (automaton, next) => automaton.addCharacter(parseSet(set, negation !== ''), next)],
  [/\{([a-zA-Z])\.\.([a-zA-Z])\}/y, (first, last) => (automaton, next) => automaton.addCharacter(parseSet(`${first}-${last}`), next)],
  [/\{(\d{1,9})\.\.(\d{1,9})\}/y, (low, high) => (automaton, next) => automaton.addNumber(Number(low), Number(high), next)],
  [/\\?([^*?[{\\/]+|.)/suy, (text) => (automaton, next) => automaton.addText(text, next)],
]

function parseGlob(glob: string): Part[] {
  const parts: Part[] = []
  for (let at = 0; at < glob.length; ) {
    const { options, end } = splitOptions(glob, at)
    if (options.length > 1) {
      const choices = options.map(parseGlob)
      parts.push((automaton, next) => automaton.addChoice(choices.map((choice) => automaton.addParts(choice, next))))
      at = end
      continue
    }
    for (const [pattern, create] of PARTS) {
      pattern.lastIndex = at
      const [whole, first = '', second = ''] = pattern.exec(glob) ?? []
      if (whole === undefined) continue
      parts.push(create(first, second))
      at += whole.length
      break
    }
  }
  return parts
}

/** Returns the options of alternatives such as {a,b}, if there are any at this position. */
function splitOptions(glob: string, at: number): { options: string[]; end: number } {
  const options: string[] = []
  let depth = 0
  let from = at + 1
  for (let index = at; glob[at] === '{' && index < glob.length; index++) {
    const character = glob[index]
    if (character === '\\') index++
    else if (character === '{') depth++
    else if (character === '}') depth--
    if (depth > 0 && !(character === ',' && depth === 1)) continue
    options.push(glob.slice(from, index))
    from = index + 1
    if (depth === 0) return { options, end: from }
  }
  return { options: [], end: at }
}

/** Parses the inside of a set such as [a-z]. */
function parseSet(set: string, isNegated = false): CharacterTest {
  const ranges = Array.from(set.replaceAll(/\\(.)/gsu, '$1').matchAll(/(.)-(.)|./gsu), ([single, first = single, last = single]) => ({
    first,
    last,
  }))
  return (character) => ranges.some(({ first, last }) => first <= character && character <= last) !== isNegated
}
