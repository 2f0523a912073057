import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { modelTopic } from '../../../src/cli/resources/topics/models.ts'
import { confirm, yesFlag } from '../../../src/cli/terminal/confirm.ts'
import { call } from '../../../src/client/call.ts'
import { recordingRoutes } from '../../../src/contract/families/recordings.ts'

export default class RecordingsClear extends ResourceCommand {
  static override description = 'Delete the recordings of a replay model so that it records again.'
  static override examples = [{ command: "cadre models recordings clear 'Recorded'", description: 'Delete all recordings' }]
  static override args = { model: createIdArgument(modelTopic) }
  static override flags = { yes: yesFlag }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(RecordingsClear)
    const { connection, id } = await this.connectTo(modelTopic, args.model, flags)
    await confirm(`Delete all recordings of ${args.model}?`, flags.yes)
    const { message } = await call(connection, recordingRoutes.clear, { params: { id } })
    this.notify(message)
  }
}
