/** What oclif runs for a command it does not know: says which one was probably meant. */
import type { Hook } from '@oclif/core/hooks'
import { suggestWord } from '../../contract/suggest.ts'
import { UsageError } from '../terminal/errors.ts'
import { createUnexpectedArgumentError } from './parse-errors.ts'

export const commandNotFound: Hook<'command_not_found'> = async ({ id, config }) => {
  const typed = id.replaceAll(':', ' ')
  const known = [...config.commands.filter(({ hidden }) => !hidden).map((command) => command.id), ...config.topics.map(({ name }) => name)]
  // Two slips are easily made in a short word, and there are few commands to confuse it with.
  const near = suggestWord(
    id,
    known.filter((one) => !id.startsWith(`${one}:`)),
    Math.max(2, Math.floor(id.length / 3)),
  )
  if (near) throw new UsageError(`"${typed}" is not a cadre command.`, `Did you mean cadre ${near.replaceAll(':', ' ')}?`)
  // Words after a command that takes none look to oclif like a command of their own.
  const command = config.commands.find((one) => id.startsWith(`${one.id}:`) && !one.hidden)
  if (!command) throw new UsageError(`"${typed}" is not a cadre command.`, 'cadre --help shows what there is.')
  throw createUnexpectedArgumentError(command, typed.slice(command.id.length + 1))
}
