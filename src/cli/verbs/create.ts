/** `cadre <family> create`: one resource from flags, or one or many from a file. */
import { string } from '@oclif/core/flags'
import { call } from '../../client/call.ts'
import { CadreCommand } from '../base-command.ts'
import { UsageError } from '../failure.ts'
import { bodyFrom, type Field, type FlagSet, type FlagValues, fieldsFrom, flagsFrom } from '../fields.ts'
import { type Body, InputReader } from '../input.ts'
import { resolveReferences } from '../references.ts'
import type { Row } from '../table.ts'
import { type Topic, titleOf } from '../topic.ts'
import type { Example } from './list.ts'

export const fileFlag = string({ description: 'Read fields from a JSON or YAML file, - for stdin; flags go over them.', helpValue: '<file|->' })

export function createCommand(topic: Topic, examples: Example[]) {
  const { family, routes, command, references, columns, form, simplest, fromFile } = topic
  const fields = fieldsFrom(form?.schema ?? family.create, Object.keys(references))
  const a = /^[aeiouA]/.test(family.noun) ? 'an' : 'a'
  return class CreateCommand extends CadreCommand {
    static override description =
      `Create ${a} ${family.noun}.\n\nFields come from flags, from a file, or from both. A file that holds a list creates each of its items. Names work wherever identifiers do.`
    static override examples = [
      ...examples,
      { command: `cadre ${command} create --file ${command.replaceAll(' ', '-')}.yaml`, description: 'From a file of one or many' },
    ]
    static override flags: FlagSet = { ...flagsFrom(fields), file: fileFlag } as FlagSet

    override async run(): Promise<void> {
      const { flags } = await this.parse(CreateCommand)
      const { list, bodies } = await wanted(flags as FlagValues)
      const connection = await this.connect(flags)
      const created: Row[] = []
      for (const [index, body] of bodies.entries()) {
        try {
          const { data } = await call(connection, routes.create, { body: await resolveReferences(connection, references, body) })
          created.push(data as Row)
        } catch (error) {
          if (list) this.narrate(`Item ${index + 1} of ${bodies.length} failed; ${created.length} were created before it.`)
          if (created.length > 0) await this.print({ data: created, columns }, flags)
          throw error
        }
        this.narrate(`Created ${family.noun} ${titleOf(topic, data(created))}.`)
      }
      await this.print({ data: list ? created : data(created), columns }, flags)
    }
  }

  async function wanted(flags: FlagValues): Promise<{ list: boolean; bodies: Body[] }> {
    const reader = new InputReader()
    const read = (file: string) => (fromFile ? fromFile(file, reader) : reader.resources(file))
    const given = typeof flags.file === 'string' ? await read(flags.file) : { list: false, bodies: [{}] }
    const fromFlags = await bodyFrom(fields, flags, reader)
    const bodies = given.bodies.map((body) => complete({ ...body, ...fromFlags }))
    return { list: given.list, bodies }
  }

  function complete(given: Body): Body {
    const missing = fields.filter((field: Field) => field.required && given[field.name] === undefined)
    if (missing.length > 0)
      throw new UsageError(
        `Missing ${missing.map(({ flag }) => `--${flag}`).join(', ')}.`,
        `For example: ${simplest ?? examples[0]?.command ?? `cadre ${command} create --help`}`,
      )
    return form ? form.fill(given) : given
  }
}

function data(created: readonly Row[]): Row {
  return created.at(-1) ?? {}
}
