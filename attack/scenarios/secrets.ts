/** Canary secrets through every feature that uses them: none appears in a response, a log or a file. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { IncomingMessage, RequestListener } from 'node:http'
import { join } from 'node:path'
import { FAMILIES } from '../../src/contract/routes.ts'
import { linkCommand, runCommand } from '../../test/harness/cli.ts'
import { TOKEN } from '../../test/harness/daemon.ts'
import { ScriptedProvider, streamReply } from '../../test/harness/scripted-provider.ts'
import type { Json } from '../../test/harness/test-server.ts'
import { waitFor } from '../../test/harness/wait-for.ts'
import { startRecordingServer } from '../../test/outbound/recording-server.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../support/daemon.ts'
import type { Scenario } from '../support/scenario.ts'

const CANARIES = {
  'API key': 'sk-canary-Qa7Xw2Lz9Rk4-api-key',
  'tool header': 'canary-Qw9Zd4Jf6Hs2-tool-header',
  'tool token': 'canary-Qx1Qe7Ug5Ni8-tool-token',
  'tool password': 'canary-Qz5Et2Yo7Pl6-tool-password',
  'key in a query': 'canary-Qa7Ry4Ua8Qm8-query-key',
  'webhook secret': `whsec_${Buffer.from('canary-Qb9Tu6Ib1Rn0-webhook-secret').toString('base64')}`,
  'source password': 'canary-Qf8Oa5Rf9Vr8-source-password',
}
const COMMANDS = [
  'status',
  'doctor',
  'models list',
  'tools list',
  'webhooks list',
  'knowledge list',
  'export',
  'daemon logs',
  'conversations list',
]

/** Encodings in which a server can repeat a secret. */
const ENCODINGS: Record<string, (secret: string) => string> = {
  'plain text': (secret) => secret,
  base64: (secret) => Buffer.from(secret).toString('base64'),
  hex: (secret) => Buffer.from(secret).toString('hex'),
  'URL encoding': (secret) => encodeURIComponent(secret),
}

/** The end of base64, which depends on what follows the secret. */
const INCOMPLETE_END = /.?=+$/

type Place = [name: string, content: string | Buffer]

export const secrets: Scenario = {
  name: 'secrets',
  promise: 'No secret appears in a response, a log or a file.',
  run: () =>
    withFolder(async (folder) => {
      const home = join(folder, 'home')
      const provider = await ScriptedProvider.start('openai', streamReply(repeatKey))
      const echo = await startRecordingServer(echoRequest)
      const places: Place[] = []
      let daemon = await openDaemon(home, { environment: { CADRE_LOG_LEVEL: 'trace' } })
      try {
        await sendSecrets(daemon, provider, echo.origin, places)
        places.push(...(await readResponses(daemon)), ...(await readCommands(home)), ...readFiles(home, 'running'))
        await daemon.kill()
        places.push(...readFiles(home, 'killed'))
        daemon = await openDaemon(home)
        await daemon.stop()
        places.push(...readFiles(home, 'stopped'))
      } finally {
        await daemon.kill()
        await Promise.all([provider.close(), echo.close()])
      }
      const violations = findSecrets(places)
      const searched = places.reduce((sum, [, content]) => sum + content.length, 0)
      const figure = `${violations.length} found in ${places.length} responses, outputs and files (${Math.round(searched / 1024)} KB)`
      return { amount: `${Object.keys(CANARIES).length} secrets in ${Object.keys(ENCODINGS).length} encodings`, figure, violations }
    }),
}

function findSecrets(places: readonly Place[]): string[] {
  const found = Object.entries(CANARIES).flatMap(([name, secret]) =>
    Object.entries(ENCODINGS).flatMap(([encoding, encode]) =>
      places
        .filter(([, content]) => content.includes(encode(secret).replace(INCOMPLETE_END, '')))
        .map(([place]) => `${name} in ${encoding} in ${place}`),
    ),
  )
  // Canaries without special characters are the same in some encodings.
  return [...new Set(found)]
}

/** A model that repeats its API key in every encoding. */
function repeatKey({ headers }: { headers: IncomingMessage['headers'] }) {
  const key = String(headers.authorization).replace('Bearer ', '')
  return { text: Object.values(ENCODINGS).map((encode) => `Your key is ${encode(key)}. `) }
}

/** Repeats the headers and the address of each request in every encoding, with the status in the path. */
const echoRequest: RequestListener = (request, response) => {
  const values = [...Object.values(request.headers).map(String), String(request.url)]
  const credentials = values.map((value) => value.replace(/^(Bearer|Basic) /, ''))
  const decoded = credentials.map((value) => Buffer.from(value, 'base64').toString('latin1').split(':').at(-1) ?? '')
  const all = [...values, ...credentials, ...decoded].flatMap((value) => Object.values(ENCODINGS).map((encode) => encode(value)))
  const [, status = '200'] = /^\/(\d{3})/.exec(request.url ?? '') ?? []
  response.writeHead(Number(status), { 'content-type': 'text/plain', 'x-echo': encodeURIComponent(values.join(' ')) }).end(all.join('\n'))
}

/** Stores every secret and makes every request that sends one. */
async function sendSecrets({ client }: RunningDaemon, provider: ScriptedProvider, echo: string, places: Place[]): Promise<void> {
  // An admin may see the headers that a tool sends.
  const editor = (await client.create('/tokens', { name: 'editor', role: 'editor' })).token
  const send = async (method: string, path: string, body?: object, secretField?: string): Promise<Json> => {
    const isToolTest = /^\/api-tools\/.*\/test$/.test(path)
    const { text, data } = await client.call(method, path, body, isToolTest ? { token: editor } : {})
    const shown = secretField === undefined ? undefined : data?.[secretField]
    places.push([`${method} ${path}`, shown ? text.replaceAll(shown, '(shown once)') : text])
    return data
  }
  const model = await send('POST', '/models', { ...provider.model, name: 'scripted', api_key: CANARIES['API key'] })
  const agent = await send('POST', '/agents', { name: 'talker', model_id: model.id })
  const conversation = await send('POST', '/conversations', { agent_id: agent.id })
  await send('POST', `/conversations/${conversation.id}/messages`, { message: 'What is your key?' })
  await send('POST', `/conversations/${conversation.id}/messages`, { message: 'Again?', stream: true })
  await send('POST', `/models/${model.id}/test`)
  const recorder = await send('POST', '/models', { name: 'recorder', provider: 'replay', model_id: model.id, recording: true })
  if (recorder) {
    const recorded = await send('POST', '/agents', { name: 'recorded', model_id: recorder.id })
    const talk = await send('POST', '/conversations', { agent_id: recorded?.id })
    await send('POST', `/conversations/${talk?.id}/messages`, { message: 'What is your key?' })
    await send('GET', `/models/${recorder.id}/recordings`)
  }
  const auths = [
    { type: 'bearer', token: CANARIES['tool token'] },
    { type: 'basic', username: 'ada', password: CANARIES['tool password'] },
    { type: 'api_key', name: 'key', value: CANARIES['key in a query'], in: 'query' },
  ]
  for (const auth of auths)
    for (const status of [200, 401, 500]) {
      const fields = {
        name: 'echo',
        url: `${echo}/${status}`,
        auth,
        headers: { 'X-Key': CANARIES['tool header'] },
        allow_private_network: true,
      }
      const tool = await send('POST', '/api-tools', fields)
      await send('POST', `/api-tools/${tool.id}/test`, {})
    }
  const source = { repository: `${echo}/r.git`, allow_private_network: true }
  const auth = { type: 'basic', username: 'ada', password: CANARIES['source password'] }
  const { id } = await send('POST', '/knowledge-sources', { name: 'git', type: 'git', configuration: source, auth })
  await send('POST', `/knowledge-sources/${id}/sync`, {})
  await waitFor(async () => (await client.get(`/knowledge-sources/${id}`)).data.status !== 'syncing')
  const hook = { url: `${echo}/500`, events: ['conversation.completed'], secret: CANARIES['webhook secret'], allow_private_network: true }
  const webhook = await send('POST', '/webhooks', hook, 'secret')
  await send('POST', `/webhooks/${webhook.id}/test`)
  await send('POST', '/models', { name: 'm', provider: 'nonsense', model_id: 'x', api_key: CANARIES['API key'] })
}

async function readResponses({ client }: RunningDaemon): Promise<Place[]> {
  const paths = ['/export', '/status', '/settings', '/usage/stats', '/analytics/conversations']
  for (const { name, path } of FAMILIES)
    for (const { id } of await client.list(path)) {
      paths.push(`${path}/${id}`)
      if (name === 'webhooks') paths.push(`${path}/${id}/deliveries`)
    }
  const places: Place[] = []
  for (const path of paths) places.push([`GET ${path}`, (await client.get(path)).text])
  return places
}

async function readCommands(home: string): Promise<Place[]> {
  const environment = {
    PATH: process.env.PATH,
    HOME: home,
    CADRE_HOME: home,
    CADRE_KEYCHAIN: 'off',
    CADRE_TOKEN: TOKEN,
    CADRE_RATE_LIMIT: '0',
  }
  const command = linkCommand(join(home, '..', 'bin'))
  const places: Place[] = []
  for (const words of COMMANDS) {
    const { stdout, stderr } = await runCommand(command, words.split(' '), { environment })
    places.push([`cadre ${words}`, stdout + stderr])
  }
  return places
}

function readFiles(home: string, state: string): Place[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((name) => statSync(join(home, name), { throwIfNoEntry: false })?.isFile())
    .map((name) => [`${name} (${state})`, readFileSync(join(home, name))])
}
