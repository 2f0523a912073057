/** Addresses with {placeholders}: they may stand in the path and the query, never where the call goes. */
import { invalid } from '../../src/contract/errors.ts'
import { plainAddress } from '../outbound/address.ts'

const PLACEHOLDER = /\{([A-Za-z_][A-Za-z0-9_.-]*)\}/g

export function placeholdersOf(template: string): string[] {
  return [...new Set([...template.matchAll(PLACEHOLDER)].map(([, name]) => name as string))]
}

/** The origin the template always stays on. */
export function checkUrlTemplate(template: string): string {
  const afterOrigin = template.replace(/^https?:\/\/[^/?#]*/i, '')
  const origin = template.slice(0, template.length - afterOrigin.length)
  if (/[{}]/.test(origin)) throw invalid('url', 'placeholders may stand in the path and the query only')
  if (/[{}]/.test(afterOrigin.replaceAll(PLACEHOLDER, ''))) throw invalid('url', 'has a brace that belongs to no {placeholder}')
  return plainAddress('url', template.replaceAll(PLACEHOLDER, 'x')).origin
}
