/** Flags of `update` that add to a list and remove from it, such as --add-tool and --remove-tool. */
import { boolean, string } from '@oclif/core/flags'
import type { Flag } from '@oclif/core/interfaces'
import type { Connection } from '../../../client/request.ts'
import type { Body } from '../../input/input-reader.ts'
import { repeatable, splitWords } from '../../input/repeatable-flags.ts'
import type { Field, FlagSet, FlagValues } from '../../input/schema-flags.ts'
import { UsageError } from '../../terminal/failures/command-errors.ts'
import { formatCount } from '../../terminal/format-quantity.ts'
import { sanitizeLine } from '../../terminal/text.ts'
import { resolveReferences } from '../resolve-references.ts'
import { fetchNames } from '../resource-names.ts'
import type { Topic } from '../topic.ts'

const getReplaceFlag = ({ name }: Field) => `replace-${name.replaceAll('_', '-')}`

/** The fields of the topic whose lists can be edited. */
export const listEditableFields = ({ editableLists = [] }: Topic, fields: readonly Field[]): Field[] =>
  fields.filter(({ name }) => editableLists.includes(name))

export function createListFlags(fields: readonly Field[]): FlagSet {
  return Object.assign(
    {},
    ...fields.map((field) => {
      const { flag, name } = field
      const described = (description: string) =>
        string({ description, helpValue: '<a,b>', ...repeatable } as Parameters<typeof string>[0]) as Flag<unknown>
      return {
        [`add-${flag}`]: described(`Add a ${flag}, by ID or name; the others are kept. Repeatable.`),
        [`remove-${flag}`]: described(`Remove a ${flag}, by ID or name. Repeatable.`),
        [getReplaceFlag(field)]: boolean({ description: `Let --${flag} remove ${name} that it does not list.` }) as Flag<unknown>,
      }
    }),
  )
}

export const hasListChanges = (fields: readonly Field[], flags: FlagValues): boolean =>
  fields.some(({ flag }) => flags[`add-${flag}`] !== undefined || flags[`remove-${flag}`] !== undefined)

interface ListChange {
  topic: Topic
  fields: readonly Field[]
  flags: FlagValues
  /** The resource before the update. */
  current: Body
  /** The changes of the other flags, with IDs. */
  body: Body
}

/** Returns the body with the edited lists. Throws if a flag would remove items that were not named. */
export async function editLists(connection: Connection, { topic, fields, flags, current, body }: ListChange): Promise<Body> {
  const edited = { ...body }
  for (const field of fields) {
    const items = (current[field.name] ?? []) as string[]
    const added = await readItems(connection, topic, field, flags[`add-${field.flag}`])
    const removed = await readItems(connection, topic, field, flags[`remove-${field.flag}`])
    if (flags[field.flag] !== undefined) await checkReplacement(connection, topic, field, flags, items, body[field.name] as string[])
    else if (added.length > 0 || removed.length > 0) {
      const missing = removed.findIndex((id) => !items.includes(id))
      if (missing >= 0) {
        const word = splitWords(flags[`remove-${field.flag}`] as string[])[missing] ?? ''
        throw new UsageError(`The ${topic.family.noun} has no ${field.flag} "${sanitizeLine(word)}".`)
      }
      edited[field.name] = [...new Set([...items.filter((id) => !removed.includes(id)), ...added])]
    }
  }
  return edited
}

async function readItems(connection: Connection, { references }: Topic, { name }: Field, value: unknown): Promise<string[]> {
  const words = splitWords((value as string[] | undefined) ?? [])
  return (await resolveReferences(connection, references, { [name]: words }))[name] as string[]
}

/** A flag that lists all items must not remove others by accident. */
async function checkReplacement(
  connection: Connection,
  { family }: Topic,
  field: Field,
  flags: FlagValues,
  items: readonly string[],
  next: readonly string[],
): Promise<void> {
  const { flag } = field
  if (hasListChanges([field], flags))
    throw new UsageError(`--${flag} sets all ${field.name} and cannot be combined with --add-${flag} or --remove-${flag}.`)
  const lost = items.filter((id) => !next.includes(id))
  if (lost.length === 0 || flags[getReplaceFlag(field)] === true) return
  const names = await fetchNames(connection, lost)
  const listed = lost.map((id) => sanitizeLine(names.get(id) ?? id)).join(', ')
  throw new UsageError(
    `--${flag} would remove ${formatCount(lost.length, flag)} of the ${family.noun}: ${listed}.`,
    `To keep ${lost.length === 1 ? 'it' : 'them'}, use --add-${flag} instead. ` +
      `To replace all ${field.name}, add --${getReplaceFlag(field)}.`,
  )
}
