/** `cadre <family> show`: everything about one resource. */
import { string } from '@oclif/core/args'
import { call } from '../../../client/call.ts'
import { withArticle } from '../../../contract/crud.ts'
import { CadreCommand } from '../../oclif/base-command.ts'
import type { Row } from '../../terminal/table.ts'
import { resolveResource } from '../resolve-references.ts'
import { addReferenceNames } from '../resource-view.ts'
import type { Topic } from '../topic.ts'
import type { Example } from './list.ts'

/** The argument that names a resource. */
export function ownArgument({ family, label }: Topic) {
  return string({ required: true, ignoreStdin: true, description: describeIdArgument(family.noun, label) })
}

/** The argument that names one or several resources. */
export function ownArguments({ family, label }: Topic) {
  return string({
    required: true,
    ignoreStdin: true,
    multiple: true,
    description: `${describeIdArgument(family.noun, label)} May be repeated.`,
  })
}

function describeIdArgument(noun: string, label: string | undefined): string {
  return `Identifier${label === undefined ? '' : ` or ${label}`} of the ${noun}.`
}

export function showCommand(topic: Topic, examples: Example[] = []) {
  const { family, routes, command } = topic
  const id = ownArgument(topic)
  return class ShowCommand extends CadreCommand {
    static override description = `Show everything about ${withArticle(family.noun)}.`
    static override examples = [
      ...examples,
      {
        command: `cadre ${command} show ${family.prefix}_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --json`,
        description: 'By identifier, for a script',
      },
    ]
    static override args = { id }

    override async run(): Promise<void> {
      const { args, flags } = await this.parse(ShowCommand)
      const connection = await this.connect(flags)
      const answer = await call(connection, routes.get, { params: { id: await resolveResource(connection, topic, args.id) } })
      const row = answer.data as Row
      await this.print({ data: this.getFormat(flags) === 'table' ? await addReferenceNames(connection, topic, row) : row }, flags)
    }
  }
}
