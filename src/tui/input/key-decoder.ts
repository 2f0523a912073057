/** Decodes keyboard input: control characters, escape sequences of common terminals, and pastes. */

export interface Key {
  /** `text` and `paste` carry text, `cursor-position` the row and column that the terminal reports; the others are keys. */
  readonly name:
    | 'text'
    | 'paste'
    | 'cursor-position'
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

export const isCtrl = ({ name, ctrl, text }: Key, letter: string): boolean => name === 'text' && ctrl && text === letter

const PASTE_START = '\u001b[200~'
const PASTE_END = '\u001b[201~'
const NAMES_BY_LETTER: Record<string, Key['name']> = { A: 'up', B: 'down', C: 'right', D: 'left', H: 'home', F: 'end', M: 'enter' }
const NAMES_BY_NUMBER: Record<number, Key['name']> = { 1: 'home', 3: 'delete', 4: 'end', 5: 'pageup', 6: 'pagedown', 7: 'home', 8: 'end' }
const NAMES_BY_CODE: Record<number, Key['name']> = {
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

type Modifiers = Pick<Key, 'ctrl' | 'alt' | 'shift'>
const NO_MODIFIERS: Modifiers = { ctrl: false, alt: false, shift: false }

const createKey = (name: Key['name'], modifiers: Modifiers = NO_MODIFIERS, text = ''): Key => ({ name, text, ...modifiers })

/** Terminals encode modifiers as 1 + shift (1) + alt (2) + ctrl (4). */
function parseModifiers(parameter: string | undefined): Modifiers {
  const bits = Math.max(0, (Number.parseInt(parameter ?? '', 10) || 1) - 1)
  return { shift: (bits & 1) !== 0, alt: (bits & 2) !== 0, ctrl: (bits & 4) !== 0 }
}

/** A control character is Ctrl with a letter, or a key such as Tab. */
function parseControlCharacter(character: string, alt: boolean): Key {
  const code = character.charCodeAt(0)
  const name = NAMES_BY_CODE[code]
  if (name !== undefined) return createKey(name, { ...NO_MODIFIERS, alt })
  const letter = code === 0 ? ' ' : String.fromCharCode(code + (code < 27 ? 96 : 64))
  return createKey('text', { ...NO_MODIFIERS, alt, ctrl: true }, letter)
}

export class KeyDecoder {
  #pending = ''
  #paste: string | undefined

  /** Whether the input ends with a possible start of a sequence. */
  get hasPending(): boolean {
    return this.#pending !== '' && this.#paste === undefined
  }

  push(chunk: string): Key[] {
    const keys: Key[] = []
    let input = this.#pending + chunk
    this.#pending = ''
    while (input !== '') {
      if (this.#paste !== undefined) {
        const end = input.indexOf(PASTE_END)
        if (end === -1) {
          // The end marker may be split between chunks.
          const kept = countPartialMarker(input, PASTE_END)
          this.#paste += input.slice(0, input.length - kept)
          this.#pending = input.slice(input.length - kept)
          return keys
        }
        keys.push(createKey('paste', NO_MODIFIERS, (this.#paste + input.slice(0, end)).replaceAll(/\r\n?/g, '\n')))
        this.#paste = undefined
        input = input.slice(end + PASTE_END.length)
        continue
      }
      if (UNFINISHED.test(input)) {
        this.#pending = input
        return keys
      }
      if (input.startsWith(PASTE_START)) {
        this.#paste = ''
        input = input.slice(PASTE_START.length)
        continue
      }
      const [key, length] = parseKey(input)
      if (key) keys.push(key)
      input = input.slice(length)
    }
    return keys
  }

  /** Returns the pending input as keys. */
  flush(): Key[] {
    const rest = this.#pending
    if (rest === '' || this.#paste !== undefined) return []
    this.#pending = ''
    return rest === '\u001b' ? [createKey('escape')] : [createKey('text', { ...NO_MODIFIERS, alt: true }, rest.slice(1))]
  }
}

/** Returns the length of the longest start of the marker at the end of the text. */
function countPartialMarker(text: string, marker: string): number {
  for (let length = Math.min(marker.length - 1, text.length); length > 0; length--)
    if (text.endsWith(marker.slice(0, length))) return length
  return 0
}

/** Returns the first key and the length of its input. */
function parseKey(input: string): [Key | undefined, number] {
  const sequence = SEQUENCE.exec(input)
  if (sequence) {
    const [match, parameters = '', final = '', singleParameters = '', letter] = sequence
    return [
      letter === undefined ? parseControlSequence(parameters, final) : createNamedKey(NAMES_BY_LETTER[letter], singleParameters),
      match.length,
    ]
  }
  if (input.startsWith('\u001b')) {
    const next = String.fromCodePoint(input.codePointAt(1) ?? 0)
    if (next === '\u001b') return [createKey('escape'), 1]
    return [
      /[\u0000-\u001f\u007f]/.test(next) ? parseControlCharacter(next, true) : createKey('text', { ...NO_MODIFIERS, alt: true }, next),
      1 + next.length,
    ]
  }
  const text = /^[^\u0000-\u001f\u007f]+/.exec(input)?.[0]
  if (text !== undefined) return [createKey('text', NO_MODIFIERS, text), text.length]
  return [parseControlCharacter(input.slice(0, 1), false), 1]
}

function createNamedKey(name: Key['name'] | undefined, modifiers: string | undefined): Key | undefined {
  return name === undefined ? undefined : createKey(name, parseModifiers(modifiers))
}

function parseControlSequence(parameters: string, final: string): Key | undefined {
  const [first = '', second, third] = parameters.split(';')
  if (final === 'Z') return createKey('tab', { ...NO_MODIFIERS, shift: true })
  if (final === '~' && first === '27') return parseKeyCode(Number(third), second)
  if (final === '~') return createNamedKey(NAMES_BY_NUMBER[Number(first)], second)
  if (final === 'R' && /^\d+;\d+$/.test(parameters)) return createKey('cursor-position', NO_MODIFIERS, parameters)
  if (final === 'u') return parseKeyCode(Number.parseInt(first, 10), second)
  return final === 'M' ? undefined : createNamedKey(NAMES_BY_LETTER[final], second)
}

/** Parses a key code of the kitty protocol, which distinguishes Shift+Enter from Enter. */
function parseKeyCode(code: number, modifiers: string | undefined): Key | undefined {
  if (/:3/.test(modifiers ?? '')) return undefined // key release
  const parsed = parseModifiers(modifiers)
  const name = NAMES_BY_CODE[code]
  if (name !== undefined) return createKey(name, parsed)
  if (!(code >= 32 && code <= 0x10_ff_ff) || (code >= 57_344 && code <= 63_743)) return undefined
  const character = String.fromCodePoint(code)
  return createKey('text', parsed, parsed.shift && !parsed.ctrl ? character.toUpperCase() : character)
}
