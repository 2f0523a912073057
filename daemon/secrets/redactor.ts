/** Redacts secrets from text by value, in every encoding that servers, logs and errors are likely to use. */

export const REDACTED = '[redacted]'

/** Shorter values occur in ordinary text too often. */
const MIN_LENGTH = 6
/** Total size of remembered encodings: tens of thousands of typical keys. The least recently used secret is evicted first. */
const MAX_CHARACTERS = 8_000_000

const BEARER = /\b((?:bearer|basic)\s+)[\w.~+/=-]{16,}/gi
const AUTHORIZATION = /(authorization[\\"']*\s*[:=]\s*[\\"']*(?:bearer\s+|basic\s+|token\s+)?)[^\s"'\\,;&}[]+/gi

export class Redactor {
  /** Secrets in order of last use, each with its encodings. */
  readonly #encodings = new Map<string, string[]>()
  /** Encodings by their first characters, longest first, in lower case: letters match in any case. */
  readonly #byPrefix = new Map<string, string[]>()
  /** Hashes of the first three characters: rules out almost every position of a text cheaply. */
  readonly #prefixFilter = new Uint8Array(65_536)
  #characters = 0
  /** Longest first; undefined after a change. */
  #sortedEncodings: string[] | undefined

  add(secret: string): void {
    if (secret.length < MIN_LENGTH) return
    const known = this.#encodings.get(secret)
    if (known !== undefined) {
      this.#encodings.delete(secret)
      this.#encodings.set(secret, known)
      return
    }
    const encodings = listEncodings(secret)
    this.#encodings.set(secret, encodings)
    for (const encoding of encodings) this.#addEncoding(encoding)
    while (this.#characters > MAX_CHARACTERS) this.remove(this.#encodings.keys().next().value as string)
  }

  remove(secret: string): void {
    const encodings = this.#encodings.get(secret)
    if (encodings === undefined) return
    this.#encodings.delete(secret)
    for (const encoding of encodings) this.#removeEncoding(encoding)
  }

  /** Redacts known secrets and text that looks like credentials. */
  redact(text: string): string {
    return this.redactKnown(text).replace(AUTHORIZATION, `$1${REDACTED}`).replace(BEARER, `$1${REDACTED}`)
  }

  redactKnown(text: string): string {
    let clean = ''
    let copied = 0
    for (let at = 0; at <= text.length - MIN_LENGTH; ) {
      const length = this.#prefixFilter[hashPrefix(text, at)] === 0 ? 0 : this.#findMatchLength(text, at)
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

  /** Returns where a secret may begin that the text does not contain completely, or the length of the text. */
  findPartialSecret(text: string): number {
    this.#sortedEncodings ??= [...this.#encodings.values()].flat().sort((one, other) => other.length - one.length)
    const [longest = ''] = this.#sortedEncodings
    const from = Math.max(0, text.length - longest.length + 1)
    const end = lowerAscii(text.slice(from))
    for (let at = 0; at < end.length; at++) {
      const rest = end.slice(at)
      for (const encoding of this.#sortedEncodings) if (encoding[0] === rest[0] && encoding.startsWith(rest)) return from + at
    }
    return text.length
  }

  /** Redacts a text that was cut off: the beginning of a secret at its end is removed. */
  redactTruncated(text: string): string {
    const clean = this.redactKnown(text)
    return clean.slice(0, this.findPartialSecret(clean))
  }

  #findMatchLength(text: string, at: number): number {
    const candidates = this.#byPrefix.get(lowerAscii(text.slice(at, at + MIN_LENGTH)))
    return candidates?.find((encoding) => lowerAscii(text.slice(at, at + encoding.length)) === encoding)?.length ?? 0
  }

  #addEncoding(encoding: string): void {
    const prefix = encoding.slice(0, MIN_LENGTH)
    const withPrefix = this.#byPrefix.get(prefix) ?? []
    // Two secrets may share an encoding. It is kept once for each, so that removing one does not expose the other.
    withPrefix.push(encoding)
    withPrefix.sort((one, other) => other.length - one.length)
    this.#byPrefix.set(prefix, withPrefix)
    this.#prefixFilter[hashPrefix(encoding, 0)] = 1
    this.#characters += encoding.length
    this.#sortedEncodings = undefined
  }

  /** The prefix filter is not cleared: another encoding may need the entry. */
  #removeEncoding(encoding: string): void {
    const prefix = encoding.slice(0, MIN_LENGTH)
    const withPrefix = this.#byPrefix.get(prefix) ?? []
    const at = withPrefix.indexOf(encoding)
    if (at >= 0) withPrefix.splice(at, 1)
    this.#characters -= encoding.length
    this.#sortedEncodings = undefined
    if (withPrefix.length === 0) this.#byPrefix.delete(prefix)
  }
}

/** Bit 5 is set, which makes upper and lower case equal. */
function hashPrefix(text: string, at: number): number {
  return ((text.charCodeAt(at) | 32) * 31 * 31 + (text.charCodeAt(at + 1) | 32) * 31 + (text.charCodeAt(at + 2) | 32)) & 0xffff
}

/** Keeps the length of every text, which toLowerCase does not if there are other letters. */
const lowerAscii = (text: string): string =>
  /^[\u0000-\u007f]*$/.test(text) ? text.toLowerCase() : text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())

/** The secret itself, JSON-escaped up to three times, percent-encoded, form-encoded, in hex and within base64; in lower case. */
function listEncodings(secret: string): string[] {
  const quoted = encodeJson(secret)
  // Unpaired surrogates become U+FFFD, as they would in a file.
  const encodable = Buffer.from(secret).toString()
  const encoded = [encodeURIComponent(encodable), encodeURI(encodable), new URLSearchParams({ v: encodable }).toString().slice(2)]
  const base64 = [0, 1, 2].map((shift) => encodeBase64(secret, shift))
  const all = [
    secret,
    quoted,
    encodeJson(quoted),
    encodeJson(encodeJson(quoted)),
    ...encoded,
    Buffer.from(secret).toString('hex'),
    ...base64,
    ...base64.map(toUrlSafe),
  ]
  return [...new Set(all.map(lowerAscii))].filter((encoding) => encoding.length >= MIN_LENGTH)
}

function encodeJson(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}

/** The base64 characters that do not depend on the text around the secret, for each alignment. */
function encodeBase64(secret: string, shift: number): string {
  const bytes = Buffer.concat([Buffer.alloc(shift), Buffer.from(secret)])
  const whole = bytes.toString('base64').replace(/=+$/, '')
  const first = shift === 0 ? 0 : shift + 1
  const loose = bytes.length % 3 === 0 ? 0 : 1
  return whole.slice(first, whole.length - loose)
}

function toUrlSafe(base64: string): string {
  return base64.replaceAll('+', '-').replaceAll('/', '_')
}
