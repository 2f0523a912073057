import { once } from 'node:events'
import { open } from 'node:fs/promises'
import { string as text } from '@oclif/core/flags'
import { createWriteError } from '../../../src/cli/input/file-errors.ts'
import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { modelTopic } from '../../../src/cli/resources/topics/models.ts'
import { call } from '../../../src/client/call.ts'
import { paginate } from '../../../src/client/paginate.ts'
import { recordingRoutes } from '../../../src/contract/families/recordings.ts'

export default class RecordingsExport extends ResourceCommand {
  static override description = 'Export the recordings of a replay model as JSON Lines, for example to replay them in CI.'
  static override examples = [
    { command: "cadre models recordings export 'Recorded' --to recordings.jsonl", description: 'Export to a file' },
  ]
  static override args = { model: createIdArgument(modelTopic) }
  static override flags = { to: text({ description: 'File to write (default: stdout).', helpValue: '<file>' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(RecordingsExport)
    const { connection, id } = await this.connectTo(modelTopic, args.model, flags)
    const target = flags.to === undefined ? process.stdout : await openFile(flags.to)
    let count = 0
    const read = (page: number) =>
      call(connection, recordingRoutes.list, { params: { id }, query: { page, limit: 100, sort: 'key', order: 'asc' } as object })
    for await (const { data } of paginate(read, connection)) {
      // Without timestamps, recording the same responses again produces the same file.
      for (const { created_at: _, ...recording } of data) if (!target.write(`${JSON.stringify(recording)}\n`)) await once(target, 'drain')
      count += data.length
    }
    if (flags.to !== undefined) {
      target.end()
      await once(target, 'finish')
    }
    this.notify(`Exported ${count} recordings${flags.to === undefined ? '' : ` to ${flags.to}`}.`)
  }
}

async function openFile(path: string): Promise<NodeJS.WritableStream> {
  const file = await open(path, 'w').catch((error: unknown) => {
    throw createWriteError(path, error)
  })
  return file.createWriteStream()
}
