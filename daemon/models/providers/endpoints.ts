import { CadreError } from '../../../src/contract/errors.ts'

const DEFAULT_ENDPOINTS: Readonly<Record<string, string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
  ollama: 'http://127.0.0.1:11434/v1',
}

/** Returns the model's own endpoint, else the provider's default, without a trailing slash. */
export function resolveEndpoint(provider: string, endpoint: string | null): string {
  const address = endpoint ?? DEFAULT_ENDPOINTS[provider]
  if (address === undefined) throw new CadreError('VALIDATION_ERROR', `Models of the provider ${provider} need an endpoint.`)
  const url = new URL(address)
  // Ollama's own tools use the address without a path.
  if (provider === 'ollama' && url.pathname === '/') url.pathname = '/v1'
  return url.href.replace(/\/+$/, '')
}

/** Returns the same text for the ways to write the address of one server. */
export function normalizeEndpoint(provider: string, endpoint: string | null): string {
  const url = new URL(resolveEndpoint(provider, endpoint))
  if (url.hostname === 'localhost' || url.hostname === '[::1]') url.hostname = '127.0.0.1'
  return url.href.replace(/(\/v1)?\/*$/, '')
}

export function joinEndpoint(endpoint: string, path: string): URL {
  const url = new URL(endpoint)
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`
  return url
}
