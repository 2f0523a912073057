/** The output of `cadre` without arguments: the state of the service and common commands. Does not start the daemon. */
import { type Address, findDaemonProcess, resolveAddress, resolveCredentials } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import type { Paths } from '../../config.ts'
import { CadreError } from '../../contract/errors.ts'
import { modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { createDeadlineSignal, scaleTimeout, startDeadline } from '../../deadline.ts'
import { paint } from '../terminal/color.ts'
import { formatCount } from '../terminal/format-quantity.ts'
import { rewriteCommands } from '../terminal/invocation.ts'
import { padEnd, sanitizeLine, stringWidth, wrap } from '../terminal/text.ts'

/** The screen must appear promptly even if the service is slow. */
const SERVICE_TIMEOUT_MS = 800

const COMMON_COMMANDS: readonly [string, string][] = [
  ['cadre ask "…"', 'ask an agent a question'],
  ['cadre chat', 'chat with an agent'],
  ['cadre knowledge add ./docs', 'add documents'],
  ['cadre rag query docs "…"', 'ask about documents, with citations'],
  ['cadre agents create', 'create an agent'],
  ['cadre models discover --add', 'add models from this machine or your API keys'],
  ['cadre status', 'show resources and disk usage'],
  ['cadre doctor', 'diagnose problems and suggest fixes'],
]

const TOKEN_REJECTED = 'The service rejects the token. To fix it: cadre doctor'

const QUICKSTART_HINT = 'To create an agent that answers from a folder: cadre quickstart'

const HELP_COMMANDS: readonly [string, string][] = [
  ['cadre help agents', 'show help for a topic'],
  ['cadre --help', 'show all help'],
]

interface HomeScreenContent {
  description: string
  /** Topics that have list, show, create, update and delete. */
  resources: readonly string[]
  /** All other topics and commands. */
  others: readonly string[]
}

export function formatHomeScreen({ description, resources, others }: HomeScreenContent, state: readonly string[], columns = 80): string {
  const indent = (text: string) => wrap(text, columns - 2).map((line) => `  ${line}`)
  return [
    ...wrap(`cadre – ${description}`, columns),
    '',
    ...state.flatMap(indent),
    '',
    ...formatCommands(COMMON_COMMANDS, columns),
    '',
    ...wrap('Topics with list, show, create, update and delete:', columns),
    ...indent(resources.join(' ')),
    'Other topics and commands:',
    ...indent(others.join(' ')),
    '',
    ...formatCommands(HELP_COMMANDS, columns),
  ].join('\n')
}

/** Puts descriptions next to the commands, or below them in a narrow terminal. */
function formatCommands(commands: readonly [string, string][], columns: number): string[] {
  const typed = commands.map(([command, purpose]) => ({ command: rewriteCommands(command), purpose }))
  const widest = Math.max(...typed.map(({ command }) => stringWidth(command)))
  const bold = (text: string) => paint('bold', text, process.stdout)
  if (typed.every(({ purpose }) => 4 + widest + stringWidth(purpose) <= columns))
    return typed.map(({ command, purpose }) => `  ${bold(padEnd(command, widest))}  ${purpose}`)
  return typed.flatMap(({ command, purpose }) => [`  ${bold(command)}`, ...wrap(purpose, columns - 4).map((line) => `    ${line}`)])
}

/** Omits the summary if the service does not respond in time. */
export async function describeService(paths: Paths): Promise<string[]> {
  const address = resolveAddress(paths)
  const url = address.url ?? findDaemonProcess(paths)?.url
  if (url === undefined) return ['The daemon is not running. Commands start it automatically.']
  const summary = await withTimeout(summarizeService(paths, address, url))
  const profile = address.profile === undefined ? '' : ` (profile ${address.profile})`
  const running = address.url === undefined ? `The daemon is running at ${url}.` : `Using the service at ${url}${profile}.`
  return summary === undefined ? [running] : [running, summary]
}

async function summarizeService(paths: Paths, address: Address, url: string): Promise<string> {
  const connection = { url, ...(await resolveCredentials(paths, address, url, () => undefined)), notify: () => undefined }
  const options = { signal: createDeadlineSignal(scaleTimeout(SERVICE_TIMEOUT_MS)) }
  const [{ data: status }, { data: settings }] = await Promise.all([
    call(connection, systemRoutes.status, {}, options),
    call(connection, systemRoutes.getSettings, {}, options),
  ])
  const { data: model } = await call(connection, modelRoutes.get, { params: { id: settings.default_model_id } }, options)
  const { agents = 0, knowledge_sources: sources = 0 } = status.counts
  const counts = `${formatCount(agents, 'agent')}, ${formatCount(sources, 'knowledge source')}.`
  const summary = `Default model: ${sanitizeLine(model.name)}. ${counts}`
  return agents === 0 ? `${summary} ${rewriteCommands(QUICKSTART_HINT)}` : summary
}

/** Returns undefined after the timeout and for errors other than a rejected token, which would affect every command. */
async function withTimeout(request: Promise<string>): Promise<string | undefined> {
  const timeout = new Promise<undefined>((resolve) => startDeadline(scaleTimeout(SERVICE_TIMEOUT_MS), () => resolve(undefined)).unref())
  const summary = request.catch((error: unknown) =>
    error instanceof CadreError && error.code === 'UNAUTHENTICATED' ? rewriteCommands(TOKEN_REJECTED) : undefined,
  )
  return Promise.race([summary, timeout])
}
