/** The base class of commands for one resource, which an argument names. */
import type { Connection } from '../../client/request.ts'
import { CadreCommand, type GlobalFlags } from '../oclif/base-command.ts'
import { resolveResource } from './resolve-references.ts'
import type { Topic } from './topic.ts'

export abstract class ResourceCommand extends CadreCommand {
  /** Connects to the service and finds the resource with this name or ID. */
  protected async connectTo(topic: Topic, name: string, flags: GlobalFlags): Promise<{ connection: Connection; id: string }> {
    const connection = await this.connect(flags)
    return { connection, id: await resolveResource(connection, topic, name) }
  }
}
