/** Hints for sources whose address is blocked by the daemon's outbound guard. */
import type { KnowledgeSource } from '../../contract/families/knowledge-sources.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { LOCATION_FIELDS } from './plan-sources.ts'

type Source = Pick<KnowledgeSource, 'name' | 'type' | 'configuration'>

/** Detects a blocked address by the stored error. Errors stored by version 0.1.0 say "No setting opens it". */
export function isBlockedAddress({ type }: Source, why: string): boolean {
  return (type === 'url' || type === 'git') && /allow_private_network|This address cannot be allowed|No setting opens it/.test(why)
}

/** Returns the command that allows the address; undefined if it cannot be allowed. */
export function formatAllowCommand({ name, type, configuration }: Source, why: string): string | undefined {
  const address = configuration[LOCATION_FIELDS[type] ?? '']
  if (typeof address !== 'string' || !why.includes('allow_private_network')) return undefined
  const kind = type === 'git' ? ' --type git' : ''
  return `cadre knowledge add ${quoteShellWord(address)}${kind} --name ${quoteShellWord(name)} --allow-private-network`
}
