/** Tells encodings from before Unicode apart by how common the characters are that the bytes would spell. */

interface Candidate {
  encoding: string
  /** How well the bytes beyond ASCII fit, or undefined when they cannot be in this encoding. */
  fit(bytes: Uint8Array): number | undefined
}

/** The weight of one character of two bytes; undefined when there is no such character. */
type Weigh = (lead: number, trail: number) => number | undefined

export function likeliestLegacy(sample: Uint8Array): string {
  let best = { encoding: 'windows-1252', fit: 0 }
  for (const { encoding, fit } of CANDIDATES) {
    const found = fit(sample)
    if (found !== undefined && found > best.fit) best = { encoding, fit: found }
  }
  return best.encoding
}

/** The mean weight of the bytes beyond ASCII, which come in pairs but for single ones that `alone` weighs. */
function paired(weigh: Weigh, alone: (byte: number) => number | undefined = () => undefined) {
  return (bytes: Uint8Array): number | undefined => {
    let [sum, count] = [0, 0]
    for (let at = 0; at < bytes.length; at++) {
      const lead = bytes[at] as number
      if (lead < 0x80) continue
      const single = alone(lead)
      if (single !== undefined) {
        sum += single
        count++
        continue
      }
      const trail = bytes[at + 1]
      // The sample may end in the middle of a character.
      if (trail === undefined) break
      const weight = weigh(lead, trail)
      if (weight === undefined) return undefined
      sum += weight * 2
      count += 2
      at++
    }
    return count === 0 ? undefined : sum / count
  }
}

const within = (byte: number, from: number, to: number) => byte >= from && byte <= to

const shiftJis: Weigh = (lead, trail) => {
  if (!(within(trail, 0x40, 0x7e) || within(trail, 0x80, 0xfc))) return undefined
  if (lead === 0x82) return within(trail, 0x9f, 0xf1) ? 1 : 0.7
  if (lead === 0x83) return within(trail, 0x40, 0x96) ? 0.9 : 0
  if (lead === 0x81) return 0.8
  if (within(lead, 0x88, 0x97)) return 0.85
  if (within(lead, 0x98, 0x9f) || within(lead, 0xe0, 0xea)) return 0.3
  return within(lead, 0x81, 0x9f) || within(lead, 0xe0, 0xfc) ? -0.5 : undefined
}

const eucJp: Weigh = (lead, trail) => {
  if (lead === 0x8e) return within(trail, 0xa1, 0xdf) ? 0.1 : undefined
  if (!within(lead, 0xa1, 0xfe) || !within(trail, 0xa1, 0xfe)) return undefined
  if (lead === 0xa4) return within(trail, 0xa1, 0xf3) ? 1.1 : undefined
  if (lead === 0xa5) return within(trail, 0xa1, 0xf6) ? 1 : undefined
  if (lead === 0xa1) return 0.8
  // Without kana a text of such pairs is Chinese, whose common characters lie in the same place.
  return within(lead, 0xb0, 0xcf) ? 0.75 : 0.2
}

const gb18030: Weigh = (lead, trail) => {
  if (!within(lead, 0x81, 0xfe)) return undefined
  if (within(trail, 0x30, 0x39)) return -0.5
  if (!(within(trail, 0x40, 0x7e) || within(trail, 0x80, 0xfe))) return undefined
  if (trail < 0xa1) return -0.3
  if (within(lead, 0xb0, 0xd7)) return 0.9
  if (lead === 0xa1 || lead === 0xa3) return 0.8
  return within(lead, 0xd8, 0xf7) ? 0.3 : -0.3
}

const big5: Weigh = (lead, trail) => {
  if (!within(lead, 0x81, 0xfe) || !(within(trail, 0x40, 0x7e) || within(trail, 0xa1, 0xfe))) return undefined
  if (within(lead, 0xa4, 0xc6)) return 0.95
  if (lead === 0xa1) return 0.8
  return within(lead, 0xc9, 0xf9) ? 0.3 : -0.5
}

const eucKr: Weigh = (lead, trail) => {
  if (!within(lead, 0xa1, 0xfe) || !within(trail, 0xa1, 0xfe)) return undefined
  if (within(lead, 0xb0, 0xc8)) return 0.92
  return lead === 0xa1 ? 0.5 : -0.3
}

const isLetter = (byte: number | undefined) => byte !== undefined && (within(byte, 0x41, 0x5a) || within(byte, 0x61, 0x7a))

/** Western text: single letters with accents among plain ones, and typographic marks. */
function western(bytes: Uint8Array): number | undefined {
  let [sum, count] = [0, 0]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number
    if (byte < 0x80) continue
    count++
    const [before = 0, after = 0] = [bytes[at - 1], bytes[at + 1]]
    const crowded = before >= 0xc0 && after >= 0xc0
    if (crowded) sum -= 0.5
    else if (byte >= 0xc0) sum += isLetter(before) || isLetter(after) ? 0.85 : 0.3
    else if (within(byte, 0x91, 0x97) || byte === 0x85 || byte === 0x80)
      sum += isLetter(before) || isLetter(after) || before <= 0x20 ? 0.7 : 0.1
    else if (byte >= 0xa0) sum += before < 0x80 || after < 0x80 ? 0.5 : 0
  }
  return count === 0 ? undefined : sum / count
}

/** Russian and its neighbours: whole words of high bytes, nearly all in lower case. */
function cyrillic(lower: (byte: number) => boolean, upper: (byte: number) => boolean) {
  return (bytes: Uint8Array): number | undefined => {
    let [sum, count] = [0, 0]
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at] as number
      if (byte < 0x80) continue
      count++
      const [before = 0, after = 0] = [bytes[at - 1], bytes[at + 1]]
      const inWord = before >= 0xc0 || after >= 0xc0
      if (isLetter(before) || isLetter(after)) sum -= 0.5
      else if (lower(byte)) sum += inWord ? 0.93 : 0.4
      else if (upper(byte)) sum += before < 0x80 ? 0.7 : lower(before) ? -1 : 0.1
    }
    return count === 0 ? undefined : sum / count
  }
}

const CANDIDATES: Candidate[] = [
  { encoding: 'windows-1252', fit: western },
  { encoding: 'shift_jis', fit: paired(shiftJis, (byte) => (within(byte, 0xa1, 0xdf) ? 0.1 : undefined)) },
  { encoding: 'euc-jp', fit: paired(eucJp) },
  { encoding: 'gb18030', fit: paired(gb18030) },
  { encoding: 'big5', fit: paired(big5) },
  { encoding: 'euc-kr', fit: paired(eucKr) },
  {
    encoding: 'windows-1251',
    fit: cyrillic(
      (byte) => byte >= 0xe0 || byte === 0xb8,
      (byte) => within(byte, 0xc0, 0xdf) || byte === 0xa8,
    ),
  },
  {
    encoding: 'koi8-r',
    fit: cyrillic(
      (byte) => within(byte, 0xc0, 0xdf) || byte === 0xa3,
      (byte) => byte >= 0xe0 || byte === 0xb3,
    ),
  },
]
