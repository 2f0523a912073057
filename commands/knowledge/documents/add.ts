import { string } from '@oclif/core/args'
import { boolean, string as stringFlag } from '@oclif/core/flags'
import { InputReader } from '../../../src/cli/input/input-reader.ts'
import { createFields, createFlags, readBody } from '../../../src/cli/input/schema-flags.ts'
import { type NewDocument, readDocument } from '../../../src/cli/knowledge/documents.ts'
import { createIdArgument, ResourceCommand } from '../../../src/cli/resources/resource-command.ts'
import { knowledgeTopic } from '../../../src/cli/resources/topics/knowledge.ts'
import { UsageError } from '../../../src/cli/terminal/failures/command-errors.ts'
import type { Row } from '../../../src/cli/terminal/table.ts'
import { call } from '../../../src/client/call.ts'
import { DocumentCreate, documentRoutes } from '../../../src/contract/families/documents.ts'
import { knowledgeSourceRoutes } from '../../../src/contract/families/knowledge-sources.ts'

const fields = createFields(DocumentCreate).filter(({ name }) => name === 'metadata')

export default class DocumentsAdd extends ResourceCommand {
  static override description =
    'Upload files to a knowledge source and index them.\n\n' +
    'Replaces documents of the same name. Returns before they are indexed; see `cadre knowledge documents list`.'
  static override examples = [
    {
      command: 'cadre knowledge documents add Handbook leave.md travel.pdf --metadata team=people',
      description: 'Upload two files with metadata to filter by',
    },
    {
      command: 'pandoc notes.muse -t markdown | cadre knowledge documents add Handbook - --name notes.md',
      description: 'Upload the output of another program',
    },
  ]
  static override args = {
    source: createIdArgument(knowledgeTopic),
    file: string({ required: true, multiple: true, ignoreStdin: true, description: 'File to upload, or - for stdin. Repeatable.' }),
  }
  static override flags = {
    ...createFlags(fields),
    name: stringFlag({ description: 'Name of a single document (default: its relative path).' }),
    'no-index': boolean({ description: 'Do not index the documents until the next sync.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(DocumentsAdd)
    const { source, file: files } = args
    if (flags.name !== undefined && files.length > 1) throw new UsageError('--name can be used with one file only.')
    const reader = new InputReader()
    const metadata = await readBody(fields, flags, reader)
    const display = this.openDisplay()
    const { connection, id } = await this.connectTo(knowledgeTopic, source, flags)
    const added: Row[] = []
    try {
      for (const file of files) {
        display.show({ label: 'Uploading', done: added.length, total: files.length, unit: 'files' })
        const document = file === '-' ? await readStdinDocument(reader, flags.name) : await readDocument(file, flags.name)
        const { data } = await call(connection, documentRoutes.create, { params: { id }, body: { ...document, ...metadata, index: false } })
        added.push(data)
        this.notify(`Added ${data.name} (${data.id}).`)
      }
    } finally {
      display.end()
      // One sync for all files, also for those before one that failed.
      if (added.length > 0 && !flags['no-index']) await call(connection, knowledgeSourceRoutes.sync, { params: { id } })
    }
    await this.print({ data: files.length === 1 ? (added[0] ?? {}) : added, columns: ['id', 'name', 'type', 'size', 'status'] }, flags)
  }
}

async function readStdinDocument(reader: InputReader, name: string | undefined): Promise<NewDocument> {
  if (name === undefined) throw new UsageError('A document from stdin needs a name.', 'Add --name, for example --name notes.md.')
  return { name, content_base64: (await reader.readStdin('The file')).toString('base64') }
}
