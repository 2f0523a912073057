/** Secrets taken out of text by value, in every spelling in which a value is likely to turn up in a log or an error. */

export const REDACTED = '[redacted]'

/** A shorter value occurs in ordinary text too often: taking it out would eat the log and protect little. */
const SHORTEST = 6
/** How many characters of spellings are remembered (tens of thousands of usual keys); the secret used longest ago goes first. */
const MOST_CHARACTERS = 8_000_000

const BEARER = /\b((?:bearer|basic)\s+)[\w.~+/=-]{16,}/gi
const AUTHORIZATION = /(authorization[\\"']*\s*[:=]\s*[\\"']*(?:bearer\s+|basic\s+|token\s+)?)[^\s"'\\,;&}[]+/gi

export class Redactor {
  /** Secrets in the order of their last use, each with its spellings. */
  readonly #spellings = new Map<string, string[]>()
  /** Spellings by their first characters, the longest first. */
  readonly #byBeginning = new Map<string, string[]>()
  /** One bit a hash of three characters: almost every position of a text is passed over by looking only here. */
  readonly #possible = new Uint8Array(65_536)
  #characters = 0

  add(secret: string): void {
    if (secret.length < SHORTEST) return
    const known = this.#spellings.get(secret)
    if (known !== undefined) {
      this.#spellings.delete(secret)
      this.#spellings.set(secret, known)
      return
    }
    const spellings = spellingsOf(secret)
    this.#spellings.set(secret, spellings)
    for (const spelling of spellings) this.#index(spelling)
    while (this.#characters > MOST_CHARACTERS) this.remove(this.#spellings.keys().next().value as string)
  }

  remove(secret: string): void {
    const spellings = this.#spellings.get(secret)
    if (spellings === undefined) return
    this.#spellings.delete(secret)
    for (const spelling of spellings) this.#forget(spelling)
  }

  /** Without the secrets, and without what only looks like one. */
  scrub(text: string): string {
    return this.withoutSecrets(text).replace(AUTHORIZATION, `$1${REDACTED}`).replace(BEARER, `$1${REDACTED}`)
  }

  withoutSecrets(text: string): string {
    let clean = ''
    let copied = 0
    for (let at = 0; at <= text.length - SHORTEST; ) {
      const length = this.#possible[slot(text, at)] === 0 ? 0 : this.#matchAt(text, at)
      if (length === 0) {
        at++
        continue
      }
      clean += text.slice(copied, at) + REDACTED
      at += length
      copied = at
    }
    return copied === 0 ? text : clean + text.slice(copied)
  }

  #matchAt(text: string, at: number): number {
    const candidates = this.#byBeginning.get(text.slice(at, at + SHORTEST))
    return candidates?.find((spelling) => text.startsWith(spelling, at))?.length ?? 0
  }

  #index(spelling: string): void {
    const beginning = spelling.slice(0, SHORTEST)
    const same = this.#byBeginning.get(beginning) ?? []
    // Two secrets may share a spelling; it is kept once for each, so that forgetting one does not uncover the other.
    same.push(spelling)
    same.sort((one, other) => other.length - one.length)
    this.#byBeginning.set(beginning, same)
    this.#possible[slot(spelling, 0)] = 1
    this.#characters += spelling.length
  }

  /** The bit stays: another spelling may need it, and a stale one only costs a look. */
  #forget(spelling: string): void {
    const beginning = spelling.slice(0, SHORTEST)
    const same = this.#byBeginning.get(beginning) ?? []
    const at = same.indexOf(spelling)
    if (at >= 0) same.splice(at, 1)
    this.#characters -= spelling.length
    if (same.length === 0) this.#byBeginning.delete(beginning)
  }
}

function slot(text: string, at: number): number {
  return (text.charCodeAt(at) * 31 * 31 + text.charCodeAt(at + 1) * 31 + text.charCodeAt(at + 2)) & 0xffff
}

/** As it is, quoted as JSON up to three times over, in addresses and forms, and inside something encoded as base64. */
function spellingsOf(secret: string): string[] {
  const quoted = inJson(secret)
  // What no encoding can hold, half a surrogate pair, becomes what a file would show for it.
  const encodable = Buffer.from(secret).toString()
  const encoded = [encodeURIComponent(encodable), encodeURI(encodable), new URLSearchParams({ v: encodable }).toString().slice(2)]
  const base64 = [0, 1, 2].map((shift) => inBase64(secret, shift))
  const all = [
    secret,
    quoted,
    inJson(quoted),
    inJson(inJson(quoted)),
    ...encoded,
    ...encoded.map(inLowerHex),
    ...base64,
    ...base64.map(urlSafe),
  ]
  return [...new Set(all)].filter((spelling) => spelling.length >= SHORTEST)
}

function inJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

function inLowerHex(encoded: string): string {
  return encoded.replace(/%[0-9A-F]{2}/g, (escaped) => escaped.toLowerCase())
}

/** The characters that stay the same whatever stands around the secret, when `shift` bytes of a group precede it. */
function inBase64(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)])
  const whole = bytes.toString('base64').replace(/=+$/, '')
  const first = shift === 0 ? 0 : shift + 1
  const loose = bytes.length % 3 === 0 ? 0 : 1
  return whole.slice(first, whole.length - loose)
}

function urlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_')
}
