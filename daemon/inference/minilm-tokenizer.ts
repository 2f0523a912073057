/** The tokenizer of the embedded models. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Tokenizer } from '@huggingface/tokenizers'

export interface Word {
  start: number
  end: number
  ids: readonly number[]
}

export const START_TOKEN = 101
export const END_TOKEN = 102

/** The embedding model was trained on texts of this length; the tokenizer ignores its own limit. */
const MAX_TOKENS = 256
/** Longer than any ordinary text that the models read. Without a limit, lines of several megabytes would be tokenized. */
const MAX_CHARACTERS = 16_384
/** Punctuation marks and CJK characters are words of their own, as in the models' vocabulary. */
const CJK = '\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff'
const PUNCTUATION = '\\x21-\\x2f\\x3a-\\x40\\x5b-\\x60\\x7b-\\x7e\\p{P}'
const WORD = new RegExp(`[${PUNCTUATION}${CJK}]|[^\\s\\p{Cc}\\p{Cf}${PUNCTUATION}${CJK}]+`, 'gu')
/** The vocabulary has no longer words; tokenizing them would take long and give one unknown token. */
const MAX_WORD_LENGTH = 100
const UNKNOWN_TOKEN = 100
const MAX_CACHED_WORDS = 20_000

export class MinilmTokenizer {
  readonly #tokenizer: Tokenizer
  readonly #words = new Map<string, readonly number[]>()

  /** @param definition the content of tokenizer.json */
  constructor(definition: object) {
    this.#tokenizer = new Tokenizer(definition, {})
  }

  /** @param directory contains tokenizer.json */
  static load(directory: string): MinilmTokenizer {
    return new MinilmTokenizer(JSON.parse(readFileSync(join(directory, 'tokenizer.json'), 'utf8')) as object)
  }

  /** Returns token ids between the model's start and end tokens, which long texts keep too. */
  encode(text: string): BigInt64Array {
    const { ids } = this.#tokenizer.encode(text.slice(0, MAX_CHARACTERS))
    const kept = ids.length <= MAX_TOKENS ? ids : [...ids.slice(0, MAX_TOKENS - 1), ids.at(-1) ?? 0]
    return BigInt64Array.from(kept, BigInt)
  }

  /** Returns the tokens of each word with its position, which the tokenizer does not report. */
  encodeWords(text: string, maxTokens: number): Word[] {
    const words: Word[] = []
    let tokens = 0
    for (const { 0: word, index } of text.slice(0, MAX_CHARACTERS).matchAll(WORD)) {
      const ids = this.#encodeWord(word)
      tokens += ids.length
      if (tokens > maxTokens) break
      if (ids.length > 0) words.push({ start: index, end: index + word.length, ids })
    }
    return words
  }

  #encodeWord(word: string): readonly number[] {
    if (word.length > MAX_WORD_LENGTH) return [UNKNOWN_TOKEN]
    const cached = this.#words.get(word)
    if (cached) return cached
    if (this.#words.size >= MAX_CACHED_WORDS) this.#words.clear()
    const { ids } = this.#tokenizer.encode(word, { add_special_tokens: false })
    this.#words.set(word, ids)
    return ids
  }
}
