/** `cadre <family> list`: a page or all of a family, filtered and sorted. */
import { boolean, integer, option, string } from '@oclif/core/flags'
import { call, paginate } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import type { Pagination, Route } from '../../../contract/route.ts'
import { getFields, getScalarType, object } from '../../../contract/schemas/fields.ts'
import { DEFAULT_LIMIT, getSortableFields, MAX_LIMIT } from '../../../contract/schemas/list-query.ts'
import type { Body } from '../../input/input-reader.ts'
import { createFields, createFlags, type Field, type FlagSet, type FlagValues } from '../../input/schema-flags.ts'
import { CadreCommand } from '../../oclif/base-command.ts'
import { paint } from '../../terminal/color.ts'
import { UsageError } from '../../terminal/errors.ts'
import type { OutputData } from '../../terminal/render.ts'
import { getOutput, type Output, type Row } from '../../terminal/table.ts'
import { resolveReferences } from '../resolve-references.ts'
import { createTableRows } from '../resource-view.ts'
import type { Topic } from '../topic.ts'

/** The rows as people read them, where a table of them all does not do; what it shows may be asked for. */
export type FormatRows = (connection: Connection, rows: Row[], paper: Output) => Promise<OutputData | string>

export interface Example {
  command: string
  description: string
}

interface Page {
  data: Row[]
  pagination: Pagination
}

/** Flags that page and sort; sort knows the fields of the family. */
export function createPagingFlags(sortable: readonly string[]) {
  return {
    page: integer({ description: 'Page number, from 1.', min: 1, exclusive: ['all'] }),
    limit: integer({
      description: `Items a page, up to ${MAX_LIMIT}; ${DEFAULT_LIMIT} when left out.`,
      min: 1,
      max: MAX_LIMIT,
      exclusive: ['all'],
    }),
    all: boolean({ char: 'a', description: 'Every item, not just a page.' }),
    sort: option({ options: sortable })({ description: 'Field to sort by; created_at when left out.', helpValue: '<field>' }),
    order: option({ options: ['asc', 'desc'] })({ description: 'Direction of the sort; desc when left out.', helpValue: 'asc|desc' }),
    filter: string({
      char: 'f',
      multiple: true,
      multipleNonGreedy: true,
      description: 'Only items whose field equals a value; may be repeated.',
      helpValue: '<field=value>',
    }),
  }
}

/** What the user asked of a list, as the service's query. */
export function createQuery(flags: FlagValues): Body {
  const { page, limit, sort, order, all } = flags
  const filters = ((flags.filter as string[] | undefined) ?? []).map((text) => {
    const at = text.indexOf('=')
    if (at < 1) throw new UsageError(`--filter ${text} has no value.`, 'Write it as field=value.')
    return [text.slice(0, at).replaceAll('-', '_'), text.slice(at + 1)]
  })
  return { ...Object.fromEntries(filters), page, limit: all ? MAX_LIMIT : limit, sort, order }
}

/** A page, or every page in one. */
export async function readList(connection: Connection, route: Route, params: Body, query: Body, all: boolean): Promise<Page> {
  const read = async (page?: number) =>
    (await call(connection, route, { params, query: { ...query, ...(page === undefined ? {} : { page }) } })) as unknown as Page
  if (!all) return read()
  const data: Row[] = []
  for await (const page of paginate(read)) data.push(...page.data)
  return { data, pagination: { page: 1, limit: data.length, total: data.length, pages: 1 } }
}

export function footer({ data, pagination }: Page): string {
  const { page, pages: count, total } = pagination
  return paint('dim', count > 1 ? `${data.length} of ${total} · page ${page} of ${count}` : `${total} in all`)
}

/** Switches that only the list knows, such as mine. */
function createSwitchFields({ family, routes }: Topic): Field[] {
  const known = new Set([...getSortableFields(family.resource), 'page', 'limit', 'sort', 'order'])
  const others = Object.entries(getFields(routes.list.query)).filter(
    ([name, schema]) => !known.has(name) && getScalarType(schema) === 'boolean',
  )
  return createFields(object(Object.fromEntries(others))).map((field) => ({ ...field, required: false }))
}

/** Fields that get a flag of their own: what a list is asked for most. */
function createFilterFields({ family, references }: Topic): Field[] {
  const sortable = new Set(getSortableFields(family.resource))
  const wanted = Object.entries(getFields(family.resource)).filter(
    ([name, schema]) => sortable.has(name) && ('enum' in schema || name in references || name === 'name' || name === 'user_id'),
  )
  return createFields(object(Object.fromEntries(wanted)), Object.keys(references)).map((field) => ({
    ...field,
    required: false,
    nullable: false,
    schema: { ...field.schema, description: `Only those whose ${field.name} is this.` },
  }))
}

export function listCommand(topic: Topic, examples: Example[], present?: FormatRows) {
  const { family, routes, columns, references, command, createExample: simplest } = topic
  const filters = [...createFilterFields(topic), ...createSwitchFields(topic)]
  const plural = `${family.noun}s`
  return class ListCommand extends CadreCommand {
    static override description = `List ${plural}.`
    static override examples = [...examples, { command: `cadre ${command} list --all --json`, description: 'Everything, for a script' }]
    static override flags: FlagSet = { ...createFlags(filters), ...createPagingFlags(getSortableFields(family.resource)) } as FlagSet

    override async run(): Promise<void> {
      const { flags } = await this.parse(ListCommand)
      const values = flags as FlagValues
      const asked = Object.fromEntries(filters.flatMap(({ name, flag }) => (values[flag] === undefined ? [] : [[name, values[flag]]])))
      const query = createQuery(values)
      const connection = await this.connect(values)
      const found = await readList(
        connection,
        routes.list,
        {},
        { ...query, ...(await resolveReferences(connection, references, asked)) },
        values.all === true,
      )
      if (found.data.length === 0 && this.getFormat(values) === 'table') return this.narrate(emptyText(found, query, asked))
      if (this.getFormat(values) !== 'table') return this.print({ data: found.data, columns }, values)
      const shown = present
        ? await present(connection, found.data, getOutput(process.stdout))
        : await createTableRows(connection, topic, found.data)
      if (typeof shown === 'string') process.stdout.write(`${shown}\n`)
      else await this.print(shown, values)
      this.narrate(footer(found))
    }
  }

  function emptyText({ pagination }: Page, query: Body, asked: Body): string {
    if (pagination.total > 0) return `There are ${pagination.total} ${plural}, but none on page ${pagination.page}.`
    const { page, limit, sort, order, ...others } = query
    if (Object.keys(others).length + Object.keys(asked).length > 0) return `No ${plural} match.`
    return `There are no ${plural} yet. ${simplest ? `${simplest} makes one.` : `cadre ${command} create --help tells how to make one.`}`
  }
}
