/** `cadre <topic> update`: changes fields of a resource. */
import { call } from '../../../client/call.ts'
import { withArticle } from '../../../contract/crud.ts'
import type { Body, ResourceInput } from '../../input/input-reader.ts'
import { createFields, createFlags, type FlagSet, type FlagValues } from '../../input/schema-flags.ts'
import { CadreCommand } from '../../oclif/base-command.ts'
import { UsageError } from '../../terminal/errors.ts'
import type { Row } from '../../terminal/table.ts'
import type { FoundResource } from '../name-errors.ts'
import { findNamesakes, resolveReferences, resolveResource } from '../resolve-references.ts'
import { addReferenceNames } from '../resource-view.ts'
import { formatTitle, type Topic } from '../topic.ts'
import { createFileFlag, formatDuplicateName, readInput } from './create.ts'
import type { Example } from './list.ts'
import { createIdArgument } from './show.ts'

export function updateCommand(topic: Topic, examples: Example[]) {
  const { family, routes, command, references, label } = topic
  const fields = createFields(family.update, Object.keys(references)).map((field) => ({
    ...field,
    required: false,
    schema: { ...field.schema, default: undefined },
  }))
  const id = createIdArgument(topic)
  return class UpdateCommand extends CadreCommand {
    static override description = `Update ${withArticle(family.noun)}.\n\nOther fields keep their values.`
    static override examples = examples
    static override args = { id }
    static override flags: FlagSet = { ...createFlags(fields), file: createFileFlag(topic) } as FlagSet

    override async run(): Promise<void> {
      const { args, flags } = await this.parse(UpdateCommand)
      const { body, locateError } = await readChanges(flags as FlagValues)
      const connection = await this.connect(flags)
      const params = { id: await resolveResource(connection, topic, args.id as string) }
      const change = { params, body: await resolveReferences(connection, references, body) }
      const { data } = await call(connection, routes.update, change).catch((error: unknown) => {
        const place = locateError?.(error)
        if (place !== undefined) this.notify(`Rejected: ${place}.`)
        throw error
      })
      this.notify(`Updated ${family.noun} ${formatTitle(topic, data as Row)}.`)
      const [other] =
        label !== undefined && label in body && this.getFormat(flags) === 'table'
          ? await findNamesakes(connection, topic, data as FoundResource)
          : []
      if (other) this.notify(formatDuplicateName(topic, data as Row, other))
      await this.print(
        { data: this.getFormat(flags) === 'table' ? await addReferenceNames(connection, topic, data as Row) : (data as Row) },
        flags,
      )
    }
  }

  async function readChanges(flags: FlagValues): Promise<{ body: Body; locateError: ResourceInput['locateError'] }> {
    const { isList, bodies, locateError } = await readInput(topic, fields, flags)
    if (isList) throw new UsageError('An update needs one object, not a list.')
    const [body = {}] = bodies
    if (Object.keys(body).length === 0) throw new UsageError('Nothing to update.', `To list the fields: cadre ${command} update --help`)
    return { body, locateError }
  }
}
