/** `cadre <topic> delete`: deletes resources after a confirmation. */
import { boolean } from '@oclif/core/flags'
import { call } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import { pluralize } from '../../../contract/crud.ts'
import { CadreError } from '../../../contract/errors.ts'
import { CadreCommand } from '../../oclif/base-command.ts'
import { confirm, yesFlag } from '../../terminal/confirm.ts'
import { quoteShellWord } from '../../terminal/shell-quote.ts'
import { resolveResource } from '../resolve-references.ts'
import { createIdArguments } from '../resource-command.ts'
import { findTopic, type Topic } from '../topic.ts'
import type { Example } from './list.ts'

/** Returns what to tell the user after a resource was deleted. */
type DescribeRest = (connection: Connection, id: string) => Promise<string | undefined>

export function deleteCommand(topic: Topic, examples: Example[] = [], describeRest?: DescribeRest) {
  const { family, command } = topic
  const id = createIdArguments(topic)
  return class DeleteCommand extends CadreCommand {
    static override description =
      `Delete ${pluralize(family.noun)}.\n\nAsks for confirmation at a terminal; scripts need --yes. Resources in use also need --force.`
    static override examples = [
      ...examples,
      {
        command: `cadre ${command} delete ${family.prefix}_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --yes`,
        description: 'Delete by ID in a script',
      },
    ]
    static override args = { id }
    static override flags = {
      yes: yesFlag,
      force: boolean({ description: 'Delete even if in use, and detach it from the resources that use it.' }),
    }

    override async run(): Promise<void> {
      const { args, flags } = await this.parse(DeleteCommand)
      const names = args.id
      const subject = names.length === 1 ? `${family.noun} ${names[0]}` : `${names.length} ${pluralize(family.noun)} (${names.join(', ')})`
      await confirm(`Delete ${subject}?`, flags.yes)
      const connection = await this.connect(flags)
      const ids = await Promise.all(names.map((name) => resolveResource(connection, topic, name)))
      const deleted: { id: string; message: string }[] = []
      for (const [index, id] of ids.entries()) {
        const remove = (force: boolean) =>
          call(connection, findTopic(topic, id).routes.remove, { params: { id }, query: force ? { force } : {} })
        const { message } = await remove(flags.force)
          .catch(async (error: unknown) => {
            if (!isInUse(error) || flags.yes) throw error
            this.notify(error.message)
            await confirm('Delete it anyway and detach it from the resources that use it?', false, 'Not deleted.')
            return remove(true)
          })
          .catch(addForceHint(`${command} delete ${quoteShellWord(names[index] ?? id)}`))
        deleted.push({ id, message })
        this.notify(message)
        const rest = await describeRest?.(connection, id)
        if (rest !== undefined) this.notify(rest)
      }
      await this.printUnlessTable(names.length === 1 ? (deleted[0] ?? {}) : deleted, flags)
    }
  }
}

/** Other conflicts, without details, cannot be forced. */
const isInUse = (error: unknown): error is CadreError =>
  error instanceof CadreError && error.code === 'CONFLICT' && (error.details?.length ?? 0) > 0

export function addForceHint(command: string): (error: unknown) => never {
  return (error) => {
    if (!isInUse(error)) throw error
    throw error.withHint(`To delete it and detach it from them: cadre ${command} --force`)
  }
}
