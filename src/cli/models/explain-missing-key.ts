/** Says how to add the API key of a hosted model. */
import { HOSTED_PROVIDERS } from '../../contract/families/models.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import type { Row } from '../terminal/table.ts'
import { sanitizeLine } from '../terminal/text.ts'

/** Returns undefined for models that need no key or have one. */
export function explainMissingKey({ name, provider, has_api_key, endpoint }: Row): string | undefined {
  if (has_api_key === true || !HOSTED_PROVIDERS.includes(String(provider)) || (typeof endpoint === 'string' && endpoint !== ''))
    return undefined
  return `It has no API key. To add one: cadre models update ${quoteShellWord(sanitizeLine(String(name)))} --api-key -`
}
