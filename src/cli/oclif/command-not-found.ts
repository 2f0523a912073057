/** The oclif hook for unknown commands: suggests a similar command. */

import type { Hook } from '@oclif/core/hooks'
import type * as Interfaces from '@oclif/core/interfaces'
import { suggestWord } from '../../contract/suggest.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { createUnexpectedArgumentError } from './parse-errors.ts'

export const commandNotFound: Hook<'command_not_found'> = async ({ id, config }) => suggestCommand({ id, config })

/** Throws for a command that does not exist, with words joined by colons. */
export function suggestCommand({ id, config }: { id: string; config: Interfaces.Config }): never {
  const typed = id.replaceAll(':', ' ')
  const known = [...config.commands.filter(({ hidden }) => !hidden).map((command) => command.id), ...config.topics.map(({ name }) => name)]
  const candidates = known.filter((name) => !id.startsWith(`${name}:`))
  const words = id.split(':')
  // The words after the command may be its arguments: aks "How many days?"
  for (let count = words.length; count > 0; count--) {
    const part = words.slice(0, count).join(':')
    if (known.includes(part)) break
    const near = findSimilar(part, candidates)
    if (near)
      throw new UsageError(`"${part.replaceAll(':', ' ')}" is not a cadre command.`, `Did you mean cadre ${near.replaceAll(':', ' ')}?`)
  }
  // oclif treats an argument of a command that accepts none as a subcommand.
  const command = config.commands.find((candidate) => id.startsWith(`${candidate.id}:`) && !candidate.hidden)
  if (!command) throw new UsageError(`"${typed}" is not a cadre command.`, 'To list all commands: cadre --help')
  throw createUnexpectedArgumentError(command, typed.slice(command.id.length + 1))
}

/** Two typos are common even in a short command, and few commands are similar. */
const findSimilar = (id: string, known: readonly string[]) => suggestWord(id, known, Math.max(2, Math.floor(id.length / 3)))
