/** Detects keys, tokens and passwords, which are never stored as memories. */

/** Formats of well-known keys and tokens. */
const KEYS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/,
  /\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}/,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/,
  /\bglpat-[A-Za-z0-9_-]{16,}/,
  /\bxox[abeoprs]-[A-Za-z0-9-]{10,}/,
  /\bAIza[0-9A-Za-z_-]{30,}/,
  /\bcadre_[A-Za-z0-9_-]{16,}/,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\./,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/i,
]
const WORDS = [
  ...['pass(?:word|wort|phrase|code|wd)', 'kennwort', 'contraseña', 'mot de passe', String.raw`\bpin\b`, String.raw`\bcvv\b`],
  ...[String.raw`\bsecret\b`, String.raw`(?:api|access|secret|private|license)[\s_-]?(?:key|token)`],
  ...[String.raw`\b(?:bearer|auth)?\s?token\b`, 'credentials?'],
].join('|')
const OWNER = String.raw`(?:\s+(?:of|for|to|von|für|de|pour|para)\s+[^.:=\n]{1,80}?)?`
const VERB = String.raw`(?:(?:is|are|was|ist|lautet|es|est)\b|=|:|→|->)`
/** A word for a secret, followed by its value: "the password of the admin is x", "PIN: 1234", "api_key=x". */
const NAMED = new RegExp(String.raw`(?:${WORDS})${OWNER}\s*${VERB}\s*\S`, 'iu')
/** Long texts of letters and digits without spaces are not facts that people tell each other. */
const RANDOM = /\b(?=[A-Za-z0-9+/_-]*\d)(?=[A-Za-z0-9+/_-]*[A-Z])(?=[A-Za-z0-9+/_-]*[a-z])[A-Za-z0-9+/_-]{32,}\b/
const HEX = /\b[0-9a-f]{32,}\b/i

export const containsSecret = (text: string): boolean =>
  [...KEYS, NAMED, RANDOM, HEX].some((pattern) => pattern.test(text.normalize('NFKC')))
