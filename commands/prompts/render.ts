import { InputReader } from '../../src/cli/input/input-reader.ts'
import { createFields, createFlags, readBody } from '../../src/cli/input/schema-flags.ts'
import { createIdArgument, ResourceCommand } from '../../src/cli/resources/resource-command.ts'
import { promptTopic } from '../../src/cli/resources/topics/prompts.ts'
import { sanitizeText } from '../../src/cli/terminal/text.ts'
import { call } from '../../src/client/call.ts'
import { promptTemplateRoutes } from '../../src/contract/families/prompt-templates.ts'

const fields = createFields(promptTemplateRoutes.render.body).map((field) => ({ ...field, flag: 'var' }))

export default class PromptsRender extends ResourceCommand {
  static override description = 'Render a prompt template and print the text.\n\nEvery variable needs a value.'
  static override examples = [
    { command: 'cadre prompts render support --var company=Acme --var topic=invoices', description: 'Pass values as flags' },
    { command: 'cadre prompts render support --var @values.yaml', description: 'Read values from a file' },
  ]
  static override args = { id: createIdArgument(promptTopic) }
  static override flags = createFlags(fields)

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(PromptsRender)
    const body = await readBody(fields, flags, new InputReader())
    const { connection, id } = await this.connectTo(promptTopic, args.id as string, flags)
    const { data } = await call(connection, promptTemplateRoutes.render, { params: { id }, body })
    if (this.getFormat(flags) !== 'table') return this.print({ data }, flags)
    process.stdout.write(`${flags.raw ? data.text : sanitizeText(data.text)}\n`)
  }
}
