/** `cadre <family> create`: one resource from flags, or one or many from a file. */
import { string } from '@oclif/core/flags'
import { call } from '../../../client/call.ts'
import type { Connection } from '../../../client/request.ts'
import { withArticle } from '../../../contract/crud.ts'
import { type Body, InputReader, type ResourceInput } from '../../input/input-reader.ts'
import { createFields, createFlags, type Field, type FlagSet, type FlagValues, readBody } from '../../input/schema-flags.ts'
import { CadreCommand } from '../../oclif/base-command.ts'
import { paint } from '../../terminal/color.ts'
import { UsageError } from '../../terminal/errors.ts'
import { canPrompt } from '../../terminal/prompts.ts'
import { quoteShellWord } from '../../terminal/shell-quote.ts'
import type { Row } from '../../terminal/table.ts'
import { sanitizeLine } from '../../terminal/text.ts'
import type { FoundResource } from '../ambiguous-names.ts'
import { findNamesakes, resolveReferences } from '../resolve-references.ts'
import { addReferenceNames, omitEmptyFields } from '../resource-view.ts'
import { formatTitle, type Topic } from '../topic.ts'
import type { Example } from './list.ts'

/** A longer list is no slip of somebody who types. */
const MAX_NAME_CHECKS = 20

export const createFileFlag = ({ fileContents: fileHolds = 'fields from a JSON or YAML file' }: Topic) =>
  string({ description: `Read ${fileHolds}, - for stdin; flags go over them.`, helpValue: '<file|->' })

/** Asks for what is missing, where somebody is there to answer. */
export interface Interview {
  ask: (connection: Connection, given: Body) => Promise<Body>
  /** What help says of it. */
  description: string
}

export function createCommand(topic: Topic, examples: Example[], interview?: Interview) {
  const {
    family,
    routes,
    command,
    references,
    columns,
    form,
    createExample: simplest,
    readFile: fromFile,
    conditionalReferences: sometimes,
    oneTimeField: shownOnce,
    getNextStep: next,
  } = topic
  const fields = createFields(form?.schema ?? family.create, Object.keys(references))
  return class CreateCommand extends CadreCommand {
    static override description =
      `Create ${withArticle(family.noun)}.\n\nFields come from flags, from a file, or from both. A file that holds a list creates each of its items. Names work wherever identifiers do.${interview ? ` ${interview.description}` : ''}`
    static override examples = [
      ...examples,
      { command: `cadre ${command} create --file ${command.replaceAll(' ', '-')}.yaml`, description: 'From a file of one or many' },
    ]
    static override flags: FlagSet = { ...createFlags(fields), file: createFileFlag(topic) } as FlagSet

    override async run(): Promise<void> {
      const { flags } = await this.parse(CreateCommand)
      const given = await read(flags as FlagValues)
      const asks =
        interview && !given.isList && missing(given.bodies[0] ?? {}).length > 0 && canPrompt() && this.getFormat(flags) === 'table'
      const complete = asks ? given.bodies : given.bodies.map(checked)
      const connection = await this.connect(flags)
      const bodies = asks ? [checked(await interview.ask(connection, given.bodies[0] ?? {}))] : complete
      const created: Row[] = []
      for (const [index, body] of bodies.entries()) {
        try {
          const named = await resolveReferences(connection, references, body)
          const resolved = sometimes ? await resolveReferences(connection, sometimes, named, { keepUnknown: true }) : named
          created.push((await call(connection, routes.create, { body: resolved })).data as Row)
        } catch (error) {
          const place = given.locateError?.(error)
          if (place !== undefined) this.narrate(`Refused: ${place}.`)
          if (given.isList) this.narrate(`Item ${index + 1} of ${bodies.length} failed; ${created.length} were created before it.`)
          if (created.length > 0) await this.print({ data: created, columns }, flags)
          throw error
        }
        this.narrate(`Created ${family.noun} ${formatTitle(topic, getLast(created))}.`)
      }
      const brief = !given.isList && this.getFormat(flags) === 'table'
      await this.print(
        {
          data: given.isList
            ? created
            : brief
              ? omitEmptyFields(await addReferenceNames(connection, topic, getLast(created)))
              : getLast(created),
          columns,
        },
        flags,
      )
      if (shownOnce !== undefined) this.narrate(`Keep the ${shownOnce}: it is not shown again.`)
      if (this.getFormat(flags) !== 'table') return
      const alone = created.length > MAX_NAME_CHECKS || (await this.#tellNamesakes(connection, created))
      if (next && !given.isList) this.narrate(formatNextStep(next, getLast(created), alone))
    }

    /** Names may be given twice; whoever does it learns that, and what to call the new one by. Whether none was. */
    async #tellNamesakes(connection: Connection, created: readonly Row[]): Promise<boolean> {
      let alone = true
      for (const one of created) {
        const [other] = await findNamesakes(connection, topic, one as FoundResource)
        if (!other) continue
        alone = false
        this.narrate(formatDuplicateName(topic, one, other))
      }
      return alone
    }
  }

  async function read(flags: FlagValues): Promise<ResourceInput> {
    const reader = new InputReader()
    const open = (file: string) => (fromFile ? fromFile(file, reader) : reader.readResources(file))
    const given: ResourceInput = typeof flags.file === 'string' ? await open(flags.file) : { isList: false, bodies: [{}] }
    const fromFlags = await readBody(fields, flags, reader)
    return { ...given, bodies: given.bodies.map((body) => ({ ...given.defaults, ...body, ...fromFlags })) }
  }

  function missing(given: Body): Field[] {
    return fields.filter((field) => field.required && given[field.name] === undefined)
  }

  function checked(given: Body): Body {
    const absent = missing(given)
    if (absent.length > 0)
      throw new UsageError(
        `Missing ${absent.map(({ flag }) => `--${flag}`).join(', ')}.`,
        `For example: ${simplest ?? examples.at(interview ? 1 : 0)?.command ?? `cadre ${command} create --help`}`,
      )
    return form ? form.fill(given) : given
  }
}

/** A resource, and another one that people call the same. A second webhook of an address is seldom a slip. */
export function formatDuplicateName({ family, command, label = 'name' }: Topic, { id, [label]: name }: Row, other: Row): string {
  const way = label === 'url' ? '' : `, or give it a ${label} of its own: cadre ${command} update ${String(id)} --${label} …`
  return `There is another ${family.noun} called ${sanitizeLine(String(name))}: ${String(other.id)}. Call this one by its identifier, ${String(id)}${way}`
}

/** By its name, unless another one has that, too. */
function formatNextStep(next: NonNullable<Topic['getNextStep']>, { name, id }: Row, alone: boolean): string {
  const [what, command] = next({ name: alone ? quoteShellWord(String(name)) : String(id), id: String(id) })
  return `${what}: ${paint('bold', command)}`
}

function getLast(created: readonly Row[]): Row {
  return created.at(-1) ?? {}
}
