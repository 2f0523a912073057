/** The base class of commands for one resource, and the argument that names it. */
import { string } from '@oclif/core/args'
import { ServiceError } from '../../client/errors.ts'
import type { Connection } from '../../client/request.ts'
import { CadreCommand, type GlobalFlags } from '../oclif/base-command.ts'
import { quoteShellWord } from '../terminal/shell-quote.ts'
import { resolveResource } from './resolve-references.ts'
import type { Topic } from './topic.ts'

const describeId = ({ family, label }: Topic) => `ID${label === undefined ? '' : ` or ${label}`} of the ${family.noun}.`

export const createIdArgument = (topic: Topic) => string({ required: true, ignoreStdin: true, description: describeId(topic) })

export const createIdArguments = (topic: Topic) =>
  string({ required: true, ignoreStdin: true, multiple: true, description: `${describeId(topic)} Repeatable.` })

export abstract class ResourceCommand extends CadreCommand {
  #found: { id: string; name: string } | undefined

  /** Connects to the service and finds the resource with this name or ID. */
  protected async connectTo(topic: Topic, name: string, flags: GlobalFlags): Promise<{ connection: Connection; id: string }> {
    const connection = await this.connect(flags)
    const id = await resolveResource(connection, topic, name)
    this.#found = { id, name }
    return { connection, id }
  }

  /** The service suggests commands with IDs; the user knows the resource by its name. */
  protected override async catch(error: Error): Promise<never> {
    if (!(error instanceof ServiceError) || error.hint === undefined || this.#found === undefined) return super.catch(error)
    const { httpStatus, code, message, details, requestId } = error
    const body = { success: false as const, code, error: message, hint: nameInCommands(error.hint, this.#found) }
    return super.catch(new ServiceError(httpStatus, { ...body, ...(details ? { details } : {}) }, requestId))
  }
}

/** Replaces the ID only in commands, not in paths of the API. */
const nameInCommands = (hint: string, { id, name }: { id: string; name: string }): string =>
  hint.replaceAll(/\bcadre (?:[a-z-]+ )+[a-z]+_[0-9a-f-]{36}/g, (command) => command.replace(id, () => quoteShellWord(name)))
