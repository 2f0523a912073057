/** From a text to the token ids the embedded model reads. */
import { Tokenizer } from '@huggingface/tokenizers'

/** The model was trained on texts this long; the tokenizer ignores its own limit. */
const TOKENS = 256
/** More characters than 256 tokens hold in any text worth searching; without a limit a line of 8 MB would be tokenized for nothing. */
const CHARACTERS = 16_384

export class MinilmTokenizer {
  readonly #tokenizer: Tokenizer

  /** @param definition what tokenizer.json holds */
  constructor(definition: object) {
    this.#tokenizer = new Tokenizer(definition, {})
  }

  /** Always begins and ends with the model's two marks, so that the last one takes the place of what is cut. */
  encode(text: string): BigInt64Array {
    const { ids } = this.#tokenizer.encode(text.slice(0, CHARACTERS))
    const kept = ids.length <= TOKENS ? ids : [...ids.slice(0, TOKENS - 1), ids.at(-1) ?? 0]
    return BigInt64Array.from(kept, BigInt)
  }
}
