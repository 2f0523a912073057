/** Sources whose address the daemon does not go to: how it is told to, where anything can tell it. */
import type { Static } from 'typebox'
import type { KnowledgeSource } from '../../contract/families/knowledge-sources.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { LOCATION_FIELDS } from './plan-sources.ts'

type Source = Pick<Static<typeof KnowledgeSource>, 'name' | 'type' | 'configuration'>

/** A source keeps why it failed as a sentence, which names the field that would open the address, or says that none does. */
export function isBlockedAddress({ type }: Source, why: string): boolean {
  return (type === 'url' || type === 'git') && /allow_private_network|No setting opens it/.test(why)
}

/** The command that lets it read there; undefined where nothing does. */
export function formatAllowCommand({ name, type, configuration }: Source, why: string): string | undefined {
  const address = configuration[LOCATION_FIELDS[type] ?? '']
  if (typeof address !== 'string' || !why.includes('allow_private_network')) return undefined
  const kind = type === 'git' ? ' --type git' : ''
  return `cadre knowledge add ${quoteShellWord(address)}${kind} --name ${quoteShellWord(name)} --allow-private-network`
}
