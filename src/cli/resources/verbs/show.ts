/** `cadre <topic> show`: shows one resource. */
import { call } from '../../../client/call.ts'
import { withArticle } from '../../../contract/crud.ts'
import type { Row } from '../../terminal/table.ts'
import { createIdArgument, ResourceCommand } from '../resource-command.ts'
import { addReferenceNames } from '../resource-view.ts'
import { findTopic, type Topic } from '../topic.ts'
import type { Example } from './list.ts'

export function showCommand(topic: Topic, examples: Example[] = []) {
  const { family, command } = topic
  const id = createIdArgument(topic)
  return class ShowCommand extends ResourceCommand {
    static override description = `Show ${withArticle(family.noun)}.`
    static override examples = [
      ...examples,
      {
        command: `cadre ${command} show ${family.prefix}_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a --json`,
        description: 'Show it by ID as JSON',
      },
    ]
    static override args = { id }

    override async run(): Promise<void> {
      const { args, flags } = await this.parse(ShowCommand)
      const { connection, id } = await this.connectTo(topic, args.id, flags)
      const found = findTopic(topic, id)
      const row = (await call(connection, found.routes.get, { params: { id } })).data as Row
      await this.print({ data: this.getFormat(flags) === 'table' ? await addReferenceNames(connection, found, row) : row }, flags)
    }
  }
}
