/** The tokenizer of the embedded model. */
import { Tokenizer } from '@huggingface/tokenizers'

/** The model was trained on texts of this length; the tokenizer ignores its own limit. */
const MAX_TOKENS = 256
/** Longer than 256 tokens of any ordinary text. Without a limit, lines of several megabytes would be tokenized. */
const MAX_CHARACTERS = 16_384

export class MinilmTokenizer {
  readonly #tokenizer: Tokenizer

  /** @param definition the content of tokenizer.json */
  constructor(definition: object) {
    this.#tokenizer = new Tokenizer(definition, {})
  }

  /** Returns token ids between the model's start and end tokens, which long texts keep too. */
  encode(text: string): BigInt64Array {
    const { ids } = this.#tokenizer.encode(text.slice(0, MAX_CHARACTERS))
    const kept = ids.length <= MAX_TOKENS ? ids : [...ids.slice(0, MAX_TOKENS - 1), ids.at(-1) ?? 0]
    return BigInt64Array.from(kept, BigInt)
  }
}
