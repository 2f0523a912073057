/** Tokenizes text and queries for full-text search, in any script. */
import { segmentText } from '../../src/segment-text.ts'

/** Text in scripts without spaces between words. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー々]+/gu
const HAS_UNSPACED = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f\ud840-\ud8ff]/
const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]/u
/** Words, and names that join several words with marks or capitals. */
const TOKEN = /[\p{L}\p{N}\p{M}]+(?:[_.'’\-$][\p{L}\p{N}\p{M}]+)*/gu
const ASCII_TOKEN = /[A-Za-z0-9]+(?:[_.'\-$][A-Za-z0-9]+)*/g
const SIMPLE_WORD = /^(?:[A-Z]?[a-z]+|[A-Z]+|[0-9]+)$/
const WORD_PARTS = /\p{Lu}+(?!\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{Lu}|\p{N}+/gu

/** Returns lower-case tokens separated by spaces. */
export function tokenize(text: string): string {
  const isAscii = /^[\u0000-\u007f]*$/.test(text)
  const words: string[] = []
  if (isAscii) tokenizeSpaced(text, ASCII_TOKEN, words)
  else {
    const normal = text.normalize('NFKC')
    if (HAS_UNSPACED.test(normal)) tokenizeMixed(normal, words)
    else tokenizeSpaced(normal, TOKEN, words)
  }
  return words.join(' ')
}

function tokenizeMixed(text: string, words: string[]): void {
  const segmenter = new Intl.Segmenter('zh', { granularity: 'word' })
  let from = 0
  for (const { 0: run, index } of text.matchAll(UNSPACED)) {
    if (index > from) tokenizeSpaced(text.slice(from, index), TOKEN, words)
    tokenizeUnspaced(run, segmenter, words)
    from = index + run.length
  }
  if (from < text.length) tokenizeSpaced(text.slice(from), TOKEN, words)
}

/** Adds dictionary words and, for words that no dictionary has, pairs of adjacent characters. */
function tokenizeUnspaced(run: string, segmenter: Intl.Segmenter, words: string[]): void {
  for (const { segment, isWordLike } of segmentText(segmenter, run)) if (isWordLike) words.push(segment)
  if (!CJK.test(run)) return
  const characters = [...run]
  for (let index = 0; index + 1 < characters.length; index++) words.push(`${characters[index]}${characters[index + 1]}`)
}

function tokenizeSpaced(text: string, token: RegExp, words: string[]): void {
  for (const word of text.match(token) ?? []) {
    if (SIMPLE_WORD.test(word)) words.push(word.toLowerCase())
    else tokenizeCompound(word, words)
  }
}

/** Adds a compound name as one token without its marks, and each of its parts. */
function tokenizeCompound(compound: string, words: string[]): void {
  const word = compound.replace(/['’]s$/i, '')
  const parts = word.split(/[_.'’\-$]/).flatMap((part) => part.match(WORD_PARTS) ?? [])
  words.push(foldAccents(word.replaceAll(/[_.'’\-$]/g, '')))
  if (parts.length < 2 || /^[\p{L}]+['’]t$/u.test(word)) return
  for (const part of parts) words.push(foldAccents(part))
}

/** Lower-cases a word and removes accents from Latin letters, because people omit them in queries. */
function foldAccents(word: string): string {
  const lower = word.toLowerCase()
  return /[\u00e0-\u024f\u1e00-\u1eff]/.test(lower) ? lower.normalize('NFD').replaceAll(/\p{M}/gu, '') : lower
}
