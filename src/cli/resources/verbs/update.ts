/** `cadre <topic> update`: changes fields of a resource. */
import { call } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import { withArticle } from '../../../contract/crud.ts'
import type { Body, ResourceInput } from '../../input/input-reader.ts'
import { createFields, createFlags, type FlagSet, type FlagValues } from '../../input/schema-flags.ts'
import { UsageError } from '../../terminal/failures/command-errors.ts'
import type { Row } from '../../terminal/table.ts'
import { formatChanges } from '../format-changes.ts'
import type { FoundResource } from '../name-errors.ts'
import { listNamesakes, resolveReferences } from '../resolve-references.ts'
import { createIdArgument, ResourceCommand } from '../resource-command.ts'
import { fetchNames } from '../resource-names.ts'
import { addReferenceNames, listReferencedIds } from '../resource-view.ts'
import { findTopic, formatTitle, type Topic } from '../topic.ts'
import { createFileFlag, type DescribeEffect, formatDuplicateName, readInput } from './create.ts'
import { createListFlags, editLists, hasListChanges, listEditableFields } from './edit-lists.ts'
import type { Example } from './list.ts'

export function updateCommand(topic: Topic, examples: Example[], describeEffect?: DescribeEffect) {
  const { family, command, references, label, updateForm } = topic
  const fields = createFields(updateForm?.schema ?? family.update, Object.keys(references)).map((field) => ({
    ...field,
    required: false,
    schema: { ...field.schema, default: undefined },
  }))
  const lists = listEditableFields(topic, fields)
  const id = createIdArgument(topic)
  return class UpdateCommand extends ResourceCommand {
    static override description = `Update ${withArticle(family.noun)}.\n\nOther fields keep their values.`
    static override examples = examples
    static override args = { id }
    static override flags: FlagSet = { ...createFlags(fields), ...createListFlags(lists), file: createFileFlag(topic) } as FlagSet

    override async run(): Promise<void> {
      const { args, flags } = await this.parse(UpdateCommand)
      const { body, locateError } = await readChanges(flags as FlagValues)
      const { connection, id } = await this.connectTo(topic, args.id as string, flags)
      const params = { id }
      const found = findTopic(topic, id)
      const { data: current, ifMatch } = await readCurrent(connection, found, params)
      const resolved = await resolveReferences(connection, references, updateForm?.toBody(body, current) ?? body)
      const change = {
        params,
        body: await editLists(connection, { topic, fields: lists, flags: flags as FlagValues, current, body: resolved }),
      }
      // What is computed from the stored resource must not undo a change that happened in between.
      const headers = updateForm || hasListChanges(lists, flags as FlagValues) ? ifMatch : {}
      const { data } = await call(connection, found.routes.update, change, { headers }).catch((error: unknown) => {
        const place = locateError?.(error)
        if (place !== undefined) this.notify(`Rejected: ${place}.`)
        throw error
      })
      this.notify(`Updated ${found.family.noun} ${formatTitle(topic, data as Row)}.`)
      const names = await fetchNames(connection, listReferencedIds(found, [current, data as Row]))
      for (const line of formatChanges(found, current, data as Row, names)) this.notify(`  ${line}`)
      const effect = await describeEffect?.(connection, data as Row, change.body)
      if (effect !== undefined) this.notify(effect)
      if (this.getFormat(flags) !== 'table') return this.print({ data: data as Row }, flags)
      const [other] = label !== undefined && label in body ? await listNamesakes(connection, found, data as FoundResource) : []
      if (other) this.notify(formatDuplicateName(topic, data as Row, other))
      await this.print({ data: await addReferenceNames(connection, found, data as Row) }, flags)
    }
  }

  async function readCurrent(
    connection: Connection,
    { routes }: Topic,
    params: { id: string },
  ): Promise<{ data: Row; ifMatch: Record<string, string> }> {
    let ifMatch = {}
    const { data } = await call(
      connection,
      routes.get,
      { params },
      {
        onHeaders: ({ etag }) => {
          ifMatch = etag === undefined ? {} : { 'if-match': etag }
        },
      },
    )
    return { data: data as Row, ifMatch }
  }

  async function readChanges(flags: FlagValues): Promise<{ body: Body; locateError: ResourceInput['locateError'] }> {
    const { isList, bodies, locateError } = await readInput(topic, fields, flags)
    if (isList) throw new UsageError('An update needs one object, not a list.')
    const [body = {}] = bodies
    if (Object.keys(body).length === 0 && !hasListChanges(lists, flags))
      throw new UsageError('Nothing to update.', `To list the fields: cadre ${command} update --help`)
    return { body, locateError }
  }
}
