/** `cadre <topic> list`: lists resources, filtered, sorted and paged. */
import { boolean, integer, option, string } from '@oclif/core/flags'
import { call } from '../../../client/call.ts'
import { type Page as AnyPage, readAllPages } from '../../../client/paginate.ts'
import type { Connection } from '../../../client/request.ts'
import { pluralize } from '../../../contract/crud.ts'
import type { Route } from '../../../contract/route.ts'
import { getFields, getScalarType, object } from '../../../contract/schemas/fields.ts'
import { DEFAULT_LIMIT, getSortableFields, MAX_LIMIT } from '../../../contract/schemas/list-query.ts'
import type { Body } from '../../input/input-reader.ts'
import { parsePair } from '../../input/parse-pair.ts'
import { repeatable } from '../../input/repeatable-flags.ts'
import { createFields, createFlags, type Field, type FlagSet, type FlagValues } from '../../input/schema-flags.ts'
import { CadreCommand } from '../../oclif/base-command.ts'
import { paint } from '../../terminal/color.ts'
import type { OutputData } from '../../terminal/render.ts'
import { getOutput, type Output, type Row } from '../../terminal/table.ts'
import { resolveReferences } from '../resolve-references.ts'
import { createTableRows } from '../resource-view.ts'
import type { Topic } from '../topic.ts'

/** Replaces the default table; may fetch more data. */
type FormatRows = (connection: Connection, rows: Row[], output: Output) => Promise<OutputData | string>

export interface Example {
  command: string
  description: string
}

type Page = AnyPage<Row>

export function createPagingFlags(sortable: readonly string[]) {
  return {
    page: integer({ description: 'Page number, starting at 1.', min: 1, exclusive: ['all'] }),
    limit: integer({
      description: `Items per page, up to ${MAX_LIMIT} (default: ${DEFAULT_LIMIT}).`,
      min: 1,
      max: MAX_LIMIT,
      exclusive: ['all'],
    }),
    all: boolean({ char: 'a', description: 'List all items instead of one page.' }),
    sort: option({ options: sortable })({ description: 'Field to sort by (default: created_at).', helpValue: '<field>' }),
    order: option({ options: ['asc', 'desc'] })({ description: 'Sort direction (default: desc).', helpValue: 'asc|desc' }),
    filter: string({ ...repeatable, char: 'f', description: 'Filter by a field; repeatable.', helpValue: '<field=value>' }),
  }
}

export function createQuery(flags: FlagValues): Body {
  const { page, limit, sort, order, all } = flags
  const filters = ((flags.filter as string[] | undefined) ?? []).map((text) => {
    const [field, value] = parsePair(text, '--filter', 'Use field=value.')
    return [field.replaceAll('-', '_'), value]
  })
  return { ...Object.fromEntries(filters), page, limit: all ? MAX_LIMIT : limit, sort, order }
}

export async function fetchList(connection: Connection, route: Route, params: Body, query: Body, all: boolean): Promise<Page> {
  const read = async (page = query.page) => (await call(connection, route, { params, query: { ...query, page } })) as unknown as Page
  if (!all) return read()
  const data = await readAllPages(read, connection)
  return { data, pagination: { page: 1, limit: data.length, total: data.length, pages: 1 } }
}

export function formatFooter({ data, pagination }: Page): string {
  const { page, pages: count, total } = pagination
  return paint('dim', count > 1 ? `${data.length} of ${total} · page ${page} of ${count}` : `${total} total`)
}

/** Boolean query parameters that are not fields, such as mine. */
function createSwitchFields({ family, routes }: Topic): Field[] {
  const known = new Set([...getSortableFields(family.resource, family.computedFields), 'page', 'limit', 'sort', 'order'])
  const others = Object.entries(getFields(routes.list.query)).filter(
    ([name, schema]) => !known.has(name) && getScalarType(schema) === 'boolean',
  )
  return createFields(object(Object.fromEntries(others))).map((field) => ({ ...field, required: false }))
}

/** Fields with their own filter flag. */
function createFilterFields({ family, references }: Topic): Field[] {
  const sortable = new Set(getSortableFields(family.resource, family.computedFields))
  const wanted = Object.entries(getFields(family.resource)).filter(
    ([name, schema]) => sortable.has(name) && ('enum' in schema || name in references || name === 'name' || name === 'user_id'),
  )
  return createFields(object(Object.fromEntries(wanted)), Object.keys(references)).map((field) => ({
    ...field,
    required: false,
    nullable: false,
    schema: { ...field.schema, description: `Filter by ${field.name}.` },
  }))
}

export function listCommand(topic: Topic, examples: Example[], formatRows?: FormatRows) {
  const { family, routes, columns, references, command, createExample, alternatives = [] } = topic
  const filters = [...createFilterFields(topic), ...createSwitchFields(topic)]
  const plural = pluralize(family.noun)
  return class ListCommand extends CadreCommand {
    static override description = `List ${plural}.`
    static override examples = [...examples, { command: `cadre ${command} list --all --json`, description: 'List all as JSON' }]
    static override flags: FlagSet = {
      ...createFlags(filters),
      ...createPagingFlags(getSortableFields(family.resource, family.computedFields)),
    } as FlagSet

    override async run(): Promise<void> {
      const { flags } = await this.parse(ListCommand)
      const values = flags as FlagValues
      const filter = Object.fromEntries(filters.flatMap(({ name, flag }) => (values[flag] === undefined ? [] : [[name, values[flag]]])))
      const query = createQuery(values)
      const all = values.all === true
      const connection = await this.connect(values)
      const resolved = await resolveReferences(connection, references, filter)
      const page = await fetchList(connection, routes.list, {}, { ...query, ...resolved }, all)
      const lists = [{ topic, page }, ...(await fetchAlternatives(connection, query, filter, all))]
      const data = lists.flatMap((list) => list.page.data)
      if (this.getFormat(values) !== 'table') return this.print({ data, columns }, values)
      if (data.length === 0) return this.notify(formatEmptyList(page, query, filter))
      for (const list of lists.filter(({ page: { data } }) => data.length > 0)) {
        const rows = list.page.data
        const shown =
          formatRows && list.topic === topic
            ? await formatRows(connection, rows, getOutput(process.stdout))
            : await createTableRows(connection, list.topic, rows)
        if (typeof shown === 'string') process.stdout.write(`${shown}\n`)
        else await this.print(shown, values)
        this.notify(formatFooter(list.page))
      }
    }
  }

  /** Filters and unusual orders apply to the fields of the topic itself. */
  async function fetchAlternatives(
    connection: Connection,
    { page, limit, sort, order, ...others }: Body,
    filter: Body,
    all: boolean,
  ): Promise<{ topic: Topic; page: Page }[]> {
    if (Object.keys(others).length + Object.keys(filter).length > 0) return []
    const listed = alternatives.filter(
      ({ family: { resource, computedFields } }) =>
        sort === undefined || getSortableFields(resource, computedFields).includes(String(sort)),
    )
    const query = { page, limit, sort, order }
    return Promise.all(
      listed.map(async (other) => ({ topic: other, page: await fetchList(connection, other.routes.list, {}, query, all) })),
    )
  }

  function formatEmptyList({ pagination }: Page, query: Body, filter: Body): string {
    if (pagination.total > 0) return `Page ${pagination.page} is empty; there are ${pagination.total} ${plural}.`
    const { page, limit, sort, order, ...others } = query
    if (Object.keys(others).length + Object.keys(filter).length > 0) return `No ${plural} match.`
    return `No ${plural} yet. To create one: ${createExample ?? `cadre ${command} create --help`}`
  }
}
