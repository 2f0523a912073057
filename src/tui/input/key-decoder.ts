/** Bytes of a keyboard as keys: control characters, escape sequences of every common terminal, and pastes kept whole. */

export interface Key {
  /** text carries what was typed, paste what was pasted; the others are named after what is printed on them. */
  readonly name:
    | 'text'
    | 'paste'
    | 'enter'
    | 'newline'
    | 'tab'
    | 'escape'
    | 'backspace'
    | 'delete'
    | 'up'
    | 'down'
    | 'left'
    | 'right'
    | 'home'
    | 'end'
    | 'pageup'
    | 'pagedown'
  readonly text: string
  readonly ctrl: boolean
  readonly alt: boolean
  readonly shift: boolean
}

const PASTE_BEGINS = '\u001b[200~'
const PASTE_ENDS = '\u001b[201~'
const LETTERS: Record<string, Key['name']> = { A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end', M: 'enter' }
const NUMBERS: Record<number, Key['name']> = { 1: 'home', 3: 'delete', 4: 'end', 5: 'pageup', 6: 'pagedown', 7: 'home', 8: 'end' }
const CODES: Record<number, Key['name']> = {
  8: 'backspace',
  9: 'tab',
  10: 'newline',
  13: 'enter',
  27: 'escape',
  127: 'backspace',
  57414: 'enter',
}
const SEQUENCE = /^\u001b(?:\[([0-9;:?<>=]*)([ -/]*[@-~])|O([0-9;]*)([A-Za-z]))/
const UNFINISHED = /^\u001b(?:\[[0-9;:?<>=]*[ -/]*|O[0-9;]*)?$/

interface Modifiers {
  ctrl: boolean
  alt: boolean
  shift: boolean
}
const NONE: Modifiers = { ctrl: false, alt: false, shift: false }

const key = (name: Key['name'], modifiers: Modifiers = NONE, text = ''): Key => ({ name, text, ...modifiers })

/** What terminals add to a sequence for the keys that are held: one more than the sum of 1 shift, 2 alt, 4 ctrl. */
function modifiersOf(parameter: string | undefined): Modifiers {
  const bits = Math.max(0, (Number.parseInt(parameter ?? '', 10) || 1) - 1)
  return { shift: (bits & 1) !== 0, alt: (bits & 2) !== 0, ctrl: (bits & 4) !== 0 }
}

/** A control character is a letter with Ctrl, but for the keys that have one of their own. */
function control(character: string, alt: boolean): Key {
  const code = character.charCodeAt(0)
  const named = CODES[code]
  if (named !== undefined) return key(named, { ...NONE, alt })
  const letter = code === 0 ? ' ' : String.fromCharCode(code + (code < 27 ? 96 : 64))
  return key('text', { ...NONE, alt, ctrl: true }, letter)
}

export class KeyDecoder {
  #rest = ''
  #pasted: string | undefined

  /** Whether something is held back that may be the beginning of more: Escape is the first half of every other sequence. */
  get waits(): boolean {
    return this.#rest !== '' && this.#pasted === undefined
  }

  push(chunk: string): Key[] {
    const keys: Key[] = []
    let input = this.#rest + chunk
    this.#rest = ''
    while (input !== '') {
      if (this.#pasted !== undefined) {
        const end = input.indexOf(PASTE_ENDS)
        if (end === -1) {
          // The closing mark may be cut in two.
          const kept = partOf(input, PASTE_ENDS)
          this.#pasted += input.slice(0, input.length - kept)
          this.#rest = input.slice(input.length - kept)
          return keys
        }
        keys.push(key('paste', NONE, (this.#pasted + input.slice(0, end)).replaceAll(/\r\n?/g, '\n')))
        this.#pasted = undefined
        input = input.slice(end + PASTE_ENDS.length)
        continue
      }
      if (UNFINISHED.test(input)) {
        this.#rest = input
        return keys
      }
      if (input.startsWith(PASTE_BEGINS)) {
        this.#pasted = ''
        input = input.slice(PASTE_BEGINS.length)
        continue
      }
      const [found, length] = one(input)
      if (found) keys.push(found)
      input = input.slice(length)
    }
    return keys
  }

  /** Nothing followed: what was held back was a key of its own. */
  flush(): Key[] {
    const rest = this.#rest
    if (rest === '' || this.#pasted !== undefined) return []
    this.#rest = ''
    return rest === '\u001b' ? [key('escape')] : [key('text', { ...NONE, alt: true }, rest.slice(1))]
  }
}

/** How much of the end of a text may be the beginning of that mark. */
function partOf(text: string, mark: string): number {
  for (let length = Math.min(mark.length - 1, text.length); length > 0; length--) if (text.endsWith(mark.slice(0, length))) return length
  return 0
}

/** The first key of the input, and how much of it that took. */
function one(input: string): [Key | undefined, number] {
  const sequence = SEQUENCE.exec(input)
  if (sequence) {
    const [whole, parameters = '', final = '', singleParameters = '', letter] = sequence
    return [letter === undefined ? fromControlSequence(parameters, final) : named(LETTERS[letter], singleParameters), whole.length]
  }
  if (input.startsWith('\u001b')) {
    const next = String.fromCodePoint(input.codePointAt(1) ?? 0)
    if (next === '\u001b') return [key('escape'), 1]
    return [/[\u0000-\u001f\u007f]/.test(next) ? control(next, true) : key('text', { ...NONE, alt: true }, next), 1 + next.length]
  }
  const text = /^[^\u0000-\u001f\u007f]+/.exec(input)?.[0]
  if (text !== undefined) return [key('text', NONE, text), text.length]
  return [control(input.slice(0, 1), false), 1]
}

function named(name: Key['name'] | undefined, modifiers: string | undefined): Key | undefined {
  return name === undefined ? undefined : key(name, modifiersOf(modifiers))
}

function fromControlSequence(parameters: string, final: string): Key | undefined {
  const [first = '', second, third] = parameters.split(';')
  if (final === 'Z') return key('tab', { ...NONE, shift: true })
  if (final === '~' && first === '27') return fromCode(Number(third), second)
  if (final === '~') return named(NUMBERS[Number(first)], second)
  if (final === 'u') return fromCode(Number.parseInt(first, 10), second)
  return final === 'M' ? undefined : named(LETTERS[final], second)
}

/** A key told by its character's number, as newer terminals do: Shift+Enter is another key than Enter there. */
function fromCode(code: number, modifiers: string | undefined): Key | undefined {
  if (/:3/.test(modifiers ?? '')) return undefined // it was let go
  const held = modifiersOf(modifiers)
  const name = CODES[code]
  if (name !== undefined) return key(name, held)
  if (!(code >= 32 && code <= 0x10_ff_ff) || (code >= 57_344 && code <= 63_743)) return undefined
  const character = String.fromCodePoint(code)
  return key('text', held, held.shift && !held.ctrl ? character.toUpperCase() : character)
}
