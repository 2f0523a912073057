/** Which models read images, by their names. Server and models that are not known are asked. */
import type { Model } from '../../src/contract/families/models.ts'

interface Rule {
  provider?: RegExp
  name: RegExp
  reads: boolean
}

/** The first match decides. Names of local models may have an owner before and a tag after them. */
const RULES: readonly Rule[] = [
  {
    provider: /^openai$/,
    name: /^(gpt-3|gpt-4(-\d{4})?$|gpt-4-32k|o1-mini|o1-preview|o3-mini|davinci|babbage|text-|gpt-oss)/,
    reads: false,
  },
  { provider: /^openai$/, name: /^(gpt-|chatgpt-|o\d)/, reads: true },
  { provider: /^anthropic$/, name: /^claude-(2|instant)/, reads: false },
  { provider: /^anthropic$/, name: /^claude-/, reads: true },
  { provider: /^google$/, name: /^gemma-(1|2|3-1b|3n)/, reads: false },
  { provider: /^google$/, name: /^(gemini|gemma-3)/, reads: true },
  { name: /(^|\/)(gemma3:(270m|1b)|qwen3-coder|gpt-oss|deepseek-(r1|v3|coder)|phi-?4(-mini)?(:|$)|codellama|starcoder)/, reads: false },
  { name: /(^|[/_-])(llava|bakllava|moondream|pixtral|minicpm-v|internvl|molmo|smolvlm|glm-4\.?\d?v)/, reads: true },
  { name: /(^|\/)(gemma-?3|llama-?4|mistral-small-?3\.[12]|llama-?3\.2-vision|gpt-4o|gpt-4\.1|gpt-5|claude-[34]|gemini)/, reads: true },
  { name: /(\d|[_-])vl($|[:_-])|vision/, reads: true },
]

/** Null if unknown: the server reports it when it receives an image. */
export function resolveImageSupport({ provider, model_id, supports_images }: Pick<Model, 'provider' | 'model_id' | 'supports_images'>) {
  if (supports_images !== null) return supports_images
  const name = model_id.toLowerCase()
  return RULES.find((rule) => (rule.provider?.test(provider) ?? true) && rule.name.test(name))?.reads ?? null
}
