/** Detects encodings older than Unicode by how common the characters are that the bytes would encode. */

/** The mean weight of the non-ASCII bytes, or undefined if they are not valid in the encoding. */
type Score = (bytes: Uint8Array) => number | undefined

export function detectLegacyEncoding(sample: Uint8Array): string {
  let best = { encoding: 'windows-1252', score: 0 }
  for (const [encoding, getScore] of Object.entries(SCORES)) {
    const score = getScore(sample)
    if (score !== undefined && score > best.score) best = { encoding, score }
  }
  return best.encoding
}

/** Scores an encoding with two bytes per character. `weigh` returns undefined for an invalid pair; `weighSingle` for a lead byte. */
function scorePairs(
  weigh: (lead: number, trail: number) => number | undefined,
  weighSingle: (byte: number) => number | undefined = () => undefined,
): Score {
  return (bytes) => {
    let [sum, count] = [0, 0]
    for (let index = 0; index < bytes.length; index++) {
      const lead = bytes[index] as number
      if (lead < 0x80) continue
      const single = weighSingle(lead)
      if (single !== undefined) {
        sum += single
        count++
        continue
      }
      const trail = bytes[index + 1]
      // The sample may end within a character.
      if (trail === undefined) break
      const weight = weigh(lead, trail)
      if (weight === undefined) return undefined
      sum += weight * 2
      count += 2
      index++
    }
    return count === 0 ? undefined : sum / count
  }
}

/** Scores an encoding with one byte per character by each byte and its neighbors. */
function scoreBytes(weigh: (byte: number, before: number, after: number) => number): Score {
  return (bytes) => {
    let [sum, count] = [0, 0]
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index] as number
      if (byte < 0x80) continue
      sum += weigh(byte, bytes[index - 1] ?? 0, bytes[index + 1] ?? 0)
      count++
    }
    return count === 0 ? undefined : sum / count
  }
}

const isBetween = (byte: number, from: number, to: number) => byte >= from && byte <= to
const isLetter = (byte: number) => isBetween(byte, 0x41, 0x5a) || isBetween(byte, 0x61, 0x7a)

/** Russian and related languages: words of non-ASCII bytes, most of them in lower case. */
function scoreCyrillic(isLower: (byte: number) => boolean, isUpper: (byte: number) => boolean): Score {
  return scoreBytes((byte, before, after) => {
    if (isLetter(before) || isLetter(after)) return -0.5
    if (isLower(byte)) return before >= 0xc0 || after >= 0xc0 ? 0.93 : 0.4
    if (isUpper(byte)) return before < 0x80 ? 0.7 : isLower(before) ? -1 : 0.1
    return 0
  })
}

const SCORES: Record<string, Score> = {
  // Single accented letters between ASCII letters, and typographic punctuation.
  'windows-1252': scoreBytes((byte, before, after) => {
    const isNextToLetter = isLetter(before) || isLetter(after)
    if (before >= 0xc0 && after >= 0xc0) return -0.5
    if (byte >= 0xc0) return isNextToLetter ? 0.85 : 0.3
    if (isBetween(byte, 0x91, 0x97) || byte === 0x85 || byte === 0x80) return isNextToLetter || before <= 0x20 ? 0.7 : 0.1
    return byte >= 0xa0 && (before < 0x80 || after < 0x80) ? 0.5 : 0
  }),
  shift_jis: scorePairs(
    (lead, trail) => {
      if (!(isBetween(trail, 0x40, 0x7e) || isBetween(trail, 0x80, 0xfc))) return undefined
      if (lead === 0x82) return isBetween(trail, 0x9f, 0xf1) ? 1 : 0.7
      if (lead === 0x83) return isBetween(trail, 0x40, 0x96) ? 0.9 : 0
      if (lead === 0x81) return 0.8
      if (isBetween(lead, 0x88, 0x97)) return 0.85
      if (isBetween(lead, 0x98, 0x9f) || isBetween(lead, 0xe0, 0xea)) return 0.3
      return isBetween(lead, 0x81, 0x9f) || isBetween(lead, 0xe0, 0xfc) ? -0.5 : undefined
    },
    (byte) => (isBetween(byte, 0xa1, 0xdf) ? 0.1 : undefined),
  ),
  'euc-jp': scorePairs((lead, trail) => {
    if (lead === 0x8e) return isBetween(trail, 0xa1, 0xdf) ? 0.1 : undefined
    if (!isBetween(lead, 0xa1, 0xfe) || !isBetween(trail, 0xa1, 0xfe)) return undefined
    if (lead === 0xa4) return isBetween(trail, 0xa1, 0xf3) ? 1.1 : undefined
    if (lead === 0xa5) return isBetween(trail, 0xa1, 0xf6) ? 1 : undefined
    if (lead === 0xa1) return 0.8
    // Less than in gb18030: such pairs without kana are Chinese, whose common characters are in the same range.
    return isBetween(lead, 0xb0, 0xcf) ? 0.75 : 0.2
  }),
  gb18030: scorePairs((lead, trail) => {
    if (!isBetween(lead, 0x81, 0xfe)) return undefined
    if (isBetween(trail, 0x30, 0x39)) return -0.5
    if (!(isBetween(trail, 0x40, 0x7e) || isBetween(trail, 0x80, 0xfe))) return undefined
    if (trail < 0xa1) return -0.3
    if (isBetween(lead, 0xb0, 0xd7)) return 0.9
    if (lead === 0xa1 || lead === 0xa3) return 0.8
    return isBetween(lead, 0xd8, 0xf7) ? 0.3 : -0.3
  }),
  big5: scorePairs((lead, trail) => {
    if (!isBetween(lead, 0x81, 0xfe) || !(isBetween(trail, 0x40, 0x7e) || isBetween(trail, 0xa1, 0xfe))) return undefined
    if (isBetween(lead, 0xa4, 0xc6)) return 0.95
    if (lead === 0xa1) return 0.8
    return isBetween(lead, 0xc9, 0xf9) ? 0.3 : -0.5
  }),
  'euc-kr': scorePairs((lead, trail) => {
    if (!isBetween(lead, 0xa1, 0xfe) || !isBetween(trail, 0xa1, 0xfe)) return undefined
    if (isBetween(lead, 0xb0, 0xc8)) return 0.92
    return lead === 0xa1 ? 0.5 : -0.3
  }),
  'windows-1251': scoreCyrillic(
    (byte) => byte >= 0xe0 || byte === 0xb8,
    (byte) => isBetween(byte, 0xc0, 0xdf) || byte === 0xa8,
  ),
  'koi8-r': scoreCyrillic(
    (byte) => isBetween(byte, 0xc0, 0xdf) || byte === 0xa3,
    (byte) => byte >= 0xe0 || byte === 0xb3,
  ),
}
