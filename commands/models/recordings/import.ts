import { string } from '@oclif/core/args'
import { InputReader } from '../../../src/cli/input/input-reader.ts'
import { parseJsonLines } from '../../../src/cli/input/json-lines.ts'
import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { modelTopic } from '../../../src/cli/resources/topics/models.ts'
import { UsageError } from '../../../src/cli/terminal/failures/command-errors.ts'
import { call } from '../../../src/client/call.ts'
import { recordingRoutes } from '../../../src/contract/families/recordings.ts'

const BATCH_SIZE = 200

export default class RecordingsImport extends ResourceCommand {
  static override description = 'Import exported recordings into a replay model.'
  static override examples = [{ command: "cadre models recordings import 'Recorded' recordings.jsonl", description: 'Import from a file' }]
  static override args = {
    model: createIdArgument(modelTopic),
    file: string({ required: true, ignoreStdin: true, description: 'File of recordings, or - for stdin.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(RecordingsImport)
    const text = await new InputReader().readFile(args.file)
    const recordings = parseJsonLines(text, args.file).map(({ value }) => value)
    if (recordings.length === 0) throw new UsageError(`${args.file} contains no recordings.`)
    const { connection, id } = await this.connectTo(modelTopic, args.model, flags)
    for (let from = 0; from < recordings.length; from += BATCH_SIZE)
      await call(connection, recordingRoutes.add, {
        params: { id },
        body: { recordings: recordings.slice(from, from + BATCH_SIZE) as never },
      })
    this.notify(`Imported ${recordings.length} recordings.`)
  }
}
