/** Where a provider is asked, unless a model says otherwise. */
import { CadreError } from '../../src/contract/errors.ts'

const ADDRESSES: Readonly<Record<string, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  ollama: 'http://127.0.0.1:11434/v1',
}

export function resolveEndpoint(provider: string, endpoint: string | null): string {
  const address = endpoint ?? ADDRESSES[provider]
  if (address === undefined) throw new CadreError('VALIDATION_ERROR', `A model of the provider ${provider} needs an endpoint.`)
  const url = new URL(address)
  // People know Ollama by its bare address, as its own tools do.
  if (provider === 'ollama' && url.pathname === '/') url.pathname = '/v1'
  return url.href.replace(/\/+$/, '')
}
