/** What oclif runs for a command it does not know: says which one was probably meant. */
import type { Hook } from '@oclif/core/hooks'
import { suggest } from '../contract/suggest.ts'
import { UsageError } from './failure.ts'

export const commandNotFound: Hook<'command_not_found'> = async ({ id, config }) => {
  const typed = id.replaceAll(':', ' ')
  const known = [...config.commands.filter(({ hidden }) => !hidden).map((command) => command.id), ...config.topics.map(({ name }) => name)]
  // Two slips are easily made in a short word, and there are few commands to confuse it with.
  const near = suggest(id, known, Math.max(2, Math.floor(id.length / 3)))
  throw new UsageError(`"${typed}" is not a cadre command.`, near ? `Did you mean cadre ${near.replaceAll(':', ' ')}?` : 'cadre --help shows what there is.')
}
