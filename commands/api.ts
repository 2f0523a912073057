import { string } from '@oclif/core/args'
import { boolean } from '@oclif/core/flags'
import { buildApiRequest, requestFlags } from '../src/cli/input/api-request.ts'
import { InputReader } from '../src/cli/input/input-reader.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { ReportedError, UsageError } from '../src/cli/terminal/failures/command-errors.ts'
import { toFailure } from '../src/cli/terminal/failures/describe-failure.ts'
import { formatJson } from '../src/cli/terminal/render.ts'
import { sanitizeText } from '../src/cli/terminal/text.ts'
import { createResponseError, isSuccess } from '../src/client/call.ts'
import { type Page, readAllPages } from '../src/client/paginate.ts'
import { type ClientRequest, type ClientResponse, type Connection, sendRequest } from '../src/client/request.ts'

export default class Api extends CadreCommand {
  static override description =
    'Call an endpoint of the service and print its response.\n\n' +
    'The /api prefix of the path is optional. Fields become query parameters of GET and DELETE requests, and a JSON body ' +
    'otherwise.'
  static override examples = [
    { command: 'cadre api GET /agents', description: 'List agents' },
    { command: 'cadre api /agents -f sort=name -F limit=5', description: 'Add query parameters' },
    { command: "cadre api POST /agents -f name='Handbook helper' -F temperature=0.2", description: 'Send a body built from fields' },
    { command: 'cadre api PUT /agents/ID --input agent.json', description: 'Send a body from a file' },
    { command: 'cadre api /v1/models', description: 'Call the OpenAI-compatible API' },
    { command: 'cadre api GET /conversations --paginate', description: 'Fetch all pages as one list' },
  ]
  static override args = {
    method: string({
      required: true,
      ignoreStdin: true,
      description: 'GET, POST, PUT, PATCH or DELETE (default: POST with fields or --input, else GET).',
    }),
    path: string({ ignoreStdin: true, description: 'Path of the endpoint.' }),
  }
  static override flags = {
    ...requestFlags,
    include: boolean({ char: 'i', description: 'Print the response status and headers too.' }),
    paginate: boolean({ description: 'Fetch all pages of a list and print them as one.' }),
  }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(Api)
    const sent = await buildApiRequest(args.method, args.path, flags, new InputReader())
    const connection = await this.connect(flags)
    if (flags.paginate) return void process.stdout.write(`${formatJson(await fetchAllPages(connection, sent))}\n`)
    const reply = await sendRequest(connection, sent)
    const text = await reply.text()
    if (flags.include) process.stdout.write(`${formatHead(reply)}\n\n`)
    process.stdout.write(`${formatBody(reply, text, flags.raw)}\n`)
    if (!isSuccess(reply)) throw new ReportedError(toFailure(createResponseError(reply, text)).exitCode)
  }
}

function formatHead({ status, headers }: ClientResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`)
  return sanitizeText([`HTTP/1.1 ${status}`, ...lines].join('\n'))
}

function formatBody(reply: ClientResponse, text: string, raw: boolean): string {
  if (/\bjson\b/.test(reply.headers['content-type'] ?? '')) return formatJson(JSON.parse(text))
  return raw ? text : sanitizeText(text)
}

async function fetchAllPages(connection: Connection, sent: ClientRequest): Promise<unknown> {
  if (sent.method !== 'GET') throw new UsageError('--paginate works only with GET.')
  const read = async (page: number) => {
    const address = new URL(sent.path, connection.url)
    address.searchParams.set('page', String(page))
    if (!address.searchParams.has('limit')) address.searchParams.set('limit', '100')
    const reply = await sendRequest(connection, { ...sent, path: `${address.pathname}${address.search}` })
    const text = await reply.text()
    if (!isSuccess(reply)) throw createResponseError(reply, text)
    const answer = JSON.parse(text) as Pick<Page<unknown>, 'data'> & Partial<Page<unknown>>
    if (!answer.pagination) throw new UsageError(`${sent.path} is not a paged list.`, 'Remove --paginate.')
    return { data: answer.data, pagination: answer.pagination }
  }
  const data = await readAllPages(read, connection)
  return { success: true, data, pagination: { page: 1, limit: data.length, total: data.length, pages: 1 } }
}
