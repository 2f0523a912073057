/** What `cadre` alone says: what it is, how things stand here, and where to go from there. Nothing is started for it. */
import { chosenAddress, findToken, livingDaemon } from '../../client/address.ts'
import { call } from '../../client/call.ts'
import type { Paths } from '../../config.ts'
import { CadreError } from '../../contract/errors.ts'
import { modelRoutes } from '../../contract/families/models.ts'
import { systemRoutes } from '../../contract/families/system.ts'
import { paint } from '../terminal/color.ts'
import { count } from '../terminal/format-quantity.ts'
import { asTyped } from '../terminal/invocation.ts'
import { oneLine, padEnd, width, wrap } from '../terminal/text.ts'

/** Whoever typed one word does not wait for a daemon that thinks. */
const SERVICE_TIMEOUT_MS = 800

const COMMON_COMMANDS: readonly [string, string][] = [
  ['cadre ask "…"', 'a question, answered by an agent'],
  ['cadre chat', 'talk with an agent'],
  ['cadre knowledge add ./docs', 'documents to answer from'],
  ['cadre rag query docs "…"', 'a question about them, with citations'],
  ['cadre agents create', 'an agent of your own'],
  ['cadre models discover --add', 'models of this machine and of your keys'],
  ['cadre status', 'what there is, and the space it takes'],
  ['cadre doctor', 'what is wrong, and what mends it'],
]

const TOKEN_REJECTED = 'It does not accept the token that is used here: cadre doctor tells what mends it.'

const QUICKSTART_HINT = 'cadre quickstart makes an agent that answers from a folder of yours.'

const HELP_COMMANDS: readonly [string, string][] = [
  ['cadre help agents', 'what one of them does'],
  ['cadre --help', 'all of it'],
]

export interface HomeScreenContent {
  description: string
  /** Topics that have list, show, create, update and delete. */
  resources: readonly string[]
  /** Everything else that can follow cadre. */
  others: readonly string[]
}

/** Lines as long as the terminal, where there is one. */
export function formatHomeScreen({ description, resources, others }: HomeScreenContent, state: readonly string[], columns = 80): string {
  const indented = (text: string) => wrap(text, columns - 2).map((line) => `  ${line}`)
  return [
    ...wrap(`cadre – ${description}`, columns),
    '',
    ...state.flatMap(indented),
    '',
    ...formatCommands(COMMON_COMMANDS, columns),
    '',
    ...wrap('Each of these has list, show, create, update and delete:', columns),
    ...indented(resources.join(' ')),
    'And there are:',
    ...indented(others.join(' ')),
    '',
    ...formatCommands(HELP_COMMANDS, columns),
  ].join('\n')
}

/** Commands as they can be typed here, and beside each what it does; below it, where beside is no room. */
function formatCommands(commands: readonly [string, string][], columns: number): string[] {
  const typed = commands.map(([command, what]) => ({ command: asTyped(command), what }))
  const widest = Math.max(...typed.map(({ command }) => width(command)))
  const bold = (text: string) => paint('bold', text, process.stdout)
  if (typed.every(({ what }) => 4 + widest + width(what) <= columns))
    return typed.map(({ command, what }) => `  ${bold(padEnd(command, widest))}  ${what}`)
  return typed.flatMap(({ command, what }) => [`  ${bold(command)}`, ...wrap(what, columns - 4).map((line) => `    ${line}`)])
}

/** Where the service is and what it holds, as far as it says so at once. */
export async function describeService(paths: Paths): Promise<string[]> {
  const chosen = chosenAddress(paths)
  const url = chosen ?? livingDaemon(paths)?.url
  if (url === undefined) return ['The daemon is not running; commands start it.']
  const held = await withTimeout(summarizeService(paths, url))
  const running = chosen === undefined ? `The daemon runs at ${url}.` : `The service is at ${url}.`
  return held === undefined ? [running] : [running, held]
}

async function summarizeService(paths: Paths, url: string): Promise<string> {
  const connection = { url, token: await findToken(paths, url, () => undefined), narrate: () => undefined }
  const options = { signal: AbortSignal.timeout(SERVICE_TIMEOUT_MS) }
  const [{ data: status }, { data: settings }] = await Promise.all([
    call(connection, systemRoutes.status, {}, options),
    call(connection, systemRoutes.getSettings, {}, options),
  ])
  const { data: model } = await call(connection, modelRoutes.get, { params: { id: settings.default_model_id } }, options)
  const { agents = 0, knowledge_sources: sources = 0 } = status.counts
  const some = (number: number, one: string) => `${count(number)} ${one}${number === 1 ? '' : 's'}`
  const held = `Default model: ${oneLine(model.name)}. ${some(agents, 'agent')}, ${some(sources, 'knowledge source')}.`
  return agents === 0 ? `${held} ${asTyped(QUICKSTART_HINT)}` : held
}

/** Undefined where it takes longer, or may not be known. A token that is refused will be so for everything else, too. */
async function withTimeout(asked: Promise<string>): Promise<string | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(resolve, SERVICE_TIMEOUT_MS, undefined).unref())
  const told = asked.catch((error: unknown) =>
    error instanceof CadreError && error.code === 'UNAUTHENTICATED' ? asTyped(TOKEN_REJECTED) : undefined,
  )
  return Promise.race([told, late])
}
