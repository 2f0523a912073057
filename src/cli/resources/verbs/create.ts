/** `cadre <topic> create`: creates resources from flags or a file. */
import { string } from '@oclif/core/flags'
import { call } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import { withArticle } from '../../../contract/crud.ts'
import { type Body, InputReader, type ResourceInput } from '../../input/input-reader.ts'
import { createFields, createFlags, type Field, type FlagSet, type FlagValues, readBody } from '../../input/schema-flags.ts'
import { CadreCommand } from '../../oclif/base-command.ts'
import { paint } from '../../terminal/color.ts'
import { UsageError } from '../../terminal/failures/command-errors.ts'
import { canPrompt } from '../../terminal/prompts.ts'
import { quoteShellWord } from '../../terminal/shell-quote.ts'
import type { Row } from '../../terminal/table.ts'
import { sanitizeLine } from '../../terminal/text.ts'
import type { FoundResource } from '../name-errors.ts'
import { listNamesakes, resolveReferences } from '../resolve-references.ts'
import { addReferenceNames, omitEmptyFields } from '../resource-view.ts'
import { formatTitle, type Topic } from '../topic.ts'
import type { Example } from './list.ts'

/** Long lists come from files; their names are not checked for duplicates. */
const MAX_NAME_CHECKS = 20

export const createFileFlag = ({ fileContents = 'fields from a JSON or YAML file' }: Topic) =>
  string({ description: `Read ${fileContents}; - reads stdin. Flags override the file.`, helpValue: '<file|->' })

/** Merges the file and the flags; flags take precedence. */
export async function readInput({ readFile }: Topic, fields: readonly Field[], flags: FlagValues): Promise<ResourceInput> {
  const reader = new InputReader()
  const open = (file: string) => (readFile ? readFile(file, reader) : reader.readResources(file))
  const input = typeof flags.file === 'string' ? await open(flags.file) : { isList: false, bodies: [{}] }
  const fromFlags = await readBody(fields, flags, reader)
  return { ...input, bodies: input.bodies.map((body) => ({ ...body, ...fromFlags })) }
}

/** Prompts for missing fields at a terminal. */
export interface Interview {
  ask: (connection: Connection, given: Body) => Promise<Body>
  /** Sentence for the help. */
  description: string
}

/** Returns what to tell the user after a resource was created or updated with the given fields. */
export type DescribeEffect = (connection: Connection, resource: Row, given: Body) => Promise<string | undefined>

interface CreateOptions {
  interview?: Interview
  describeEffect?: DescribeEffect
}

export function createCommand(topic: Topic, examples: Example[], { interview, describeEffect }: CreateOptions = {}) {
  const { family, routes, command, references, columns, form, conditionalReferences, oneTimeField, getNextStep } = topic
  const fields = createFields(form?.schema ?? family.create, Object.keys(references))
  return class CreateCommand extends CadreCommand {
    static override description =
      `Create ${withArticle(family.noun)}.\n\n` +
      `Reads fields from flags, a file or both. ${interview?.description ?? 'A file can contain a list.'}`
    static override examples = [
      ...examples,
      { command: `cadre ${command} create --file ${command.replaceAll(' ', '-')}.yaml`, description: 'Create one or more from a file' },
    ]
    static override flags: FlagSet = { ...createFlags(fields), file: createFileFlag(topic) } as FlagSet

    override async run(): Promise<void> {
      const { flags } = await this.parse(CreateCommand)
      const isTable = this.getFormat(flags) === 'table'
      const { isList, bodies, defaults, locateError } = await readInput(topic, fields, flags as FlagValues)
      const given = bodies.map((body) => ({ ...defaults, ...body }))
      const prompts = interview && !isList && listMissing(given[0] ?? {}).length > 0 && canPrompt() && isTable
      if (!prompts) given.forEach(checkRequired)
      const connection = await this.connect(flags)
      const complete = prompts ? [await interview.ask(connection, given[0] ?? {})] : given
      const created: Row[] = []
      for (const [index, body] of complete.map(toBody).entries()) {
        try {
          const withIds = await resolveReferences(connection, references, body)
          const resolved = await resolveReferences(connection, conditionalReferences ?? {}, withIds, { keepUnknown: true })
          created.push((await call(connection, routes.create, { body: resolved })).data as Row)
        } catch (error) {
          const place = locateError?.(error)
          if (place !== undefined) this.notify(`Rejected: ${place}.`)
          if (isList) this.notify(`Item ${index + 1} of ${complete.length} failed; ${created.length} created before it.`)
          if (created.length > 0) await this.print({ data: created, columns }, flags)
          throw error
        }
        this.notify(`Created ${family.noun} ${formatTitle(topic, created.at(-1) ?? {})}.`)
        const effect = await describeEffect?.(connection, created.at(-1) ?? {}, body)
        if (effect !== undefined) this.notify(effect)
      }
      const last = created.at(-1) ?? {}
      const resource = isTable && !isList ? omitEmptyFields(await addReferenceNames(connection, topic, last)) : last
      await this.print({ data: isList ? created : resource, columns }, flags)
      if (oneTimeField !== undefined) this.notify(`Save the ${oneTimeField} now: it is not shown again.`)
      if (!isTable) return
      const isUnique = created.length > MAX_NAME_CHECKS || (await this.#reportDuplicateNames(connection, created))
      if (getNextStep && !isList) this.notify(formatNextStep(getNextStep, last, isUnique))
    }

    /** Names need not be unique. Returns whether all are. */
    async #reportDuplicateNames(connection: Connection, created: readonly Row[]): Promise<boolean> {
      let isUnique = true
      for (const resource of created) {
        const [other] = await listNamesakes(connection, topic, resource as FoundResource)
        if (!other) continue
        isUnique = false
        this.notify(formatDuplicateName(topic, resource, other))
      }
      return isUnique
    }
  }

  function listMissing(given: Body): Field[] {
    return fields.filter((field) => field.required && given[field.name] === undefined)
  }

  function checkRequired(given: Body): void {
    const missing = listMissing(given)
    if (missing.length === 0) return
    throw new UsageError(
      `Missing ${missing.map(({ flag }) => `--${flag}`).join(', ')}.`,
      `For example: ${topic.createExample ?? examples.at(interview ? 1 : 0)?.command ?? `cadre ${command} create --help`}`,
    )
  }

  function toBody(given: Body): Body {
    checkRequired(given)
    return form ? form.toBody(given) : given
  }
}

/** Webhooks have no name to change: every event is sent twice to the URL, which is rarely intended. */
export function formatDuplicateName({ family, command, label = 'name' }: Topic, { id, [label]: name }: Row, other: Row): string {
  const alternative =
    label === 'url'
      ? `, or delete it: cadre ${command} delete ${String(id)}`
      : `, or rename it: cadre ${command} update ${String(id)} --${label} …`
  const duplicate = `Another ${family.noun} is named ${sanitizeLine(String(name))}: ${String(other.id)}.`
  return `${duplicate} Refer to this one by its ID, ${String(id)}${alternative}`
}

/** Uses the ID if the name is not unique. */
function formatNextStep(getNextStep: NonNullable<Topic['getNextStep']>, { name, id }: Row, isUnique: boolean): string {
  const [purpose, command] = getNextStep({ name: isUnique ? quoteShellWord(String(name)) : String(id), id: String(id) })
  return `${purpose}: ${paint('bold', command)}`
}
