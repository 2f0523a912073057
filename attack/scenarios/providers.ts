/** Providers that lie, hang, cut or flood: the reply fails with a documented error, and the next one succeeds. */
import { gzipSync } from 'node:zlib'
import { checkResponse } from '../../test/harness/check-response.ts'
import { formatEvents, type ProviderFormat } from '../../test/harness/provider-formats.ts'
import {
  disconnectAfter,
  endEarlyAfter,
  hang,
  respondWithError,
  ScriptedProvider,
  type Step,
  sendBody,
  stallAfter,
  streamReply,
  streamText,
  trickle,
} from '../../test/harness/scripted-provider.ts'
import type { Json } from '../../test/harness/test-server.ts'
import { formatMegabytes, type RunningDaemon, readMemory, withDaemon } from '../support/daemon.ts'
import { flood } from '../support/flood.ts'
import type { Scenario } from '../support/scenario.ts'
import { formatSlowest, watchResponses } from '../support/watch-responses.ts'

const FORMATS: readonly ProviderFormat[] = ['openai', 'anthropic', 'google']
/** A client gives up on a provider that hangs. The time limits of providers are longer and have their own tests. */
const CLIENT_TIMEOUT_MS = 3_000
const MAX_MEMORY_BYTES = 1024 * 1024 * 1024

export const providers: Scenario = {
  name: 'providers',
  promise: 'A provider that lies, hangs, cuts or floods cannot harm more than its own reply.',
  run: () =>
    withDaemon(async (daemon) => {
      const violations: string[] = []
      const others = watchResponses(daemon.url)
      let count = 0
      for (const format of FORMATS) {
        const provider = await ScriptedProvider.start(format, streamText('ready'))
        const agent = await createAgent(daemon, provider)
        for (const [name, step] of Object.entries(createAttacks(format))) {
          count++
          const problems = await attackReply(daemon, provider, agent.id, step)
          violations.push(...problems.map((problem) => `${format}, ${name}: ${problem}`))
        }
        await provider.close()
      }
      const times = await others.stop()
      violations.push(...times.failures)
      const memory = readMemory(daemon.child.pid, 'VmHWM')
      if (memory > MAX_MEMORY_BYTES) violations.push(`the daemon used ${formatMegabytes(memory)}`)
      const figure = `${violations.length} with further effects; peak memory ${formatMegabytes(memory)}; ${formatSlowest(times)}`
      return { amount: `${count} misbehaving responses of 3 kinds of providers`, figure, violations }
    }),
}

async function createAgent({ client }: RunningDaemon, provider: ScriptedProvider): Promise<Json> {
  const fields = { name: provider.format, api_key: 'sk-attack', pricing: { input: 1, output: 1 } }
  const model = await client.create('/models', { ...provider.model, ...fields })
  const tool = await client.create('/api-tools', { name: 'lookup', url: 'https://tools.invalid/', method: 'GET' })
  return client.create('/agents', { name: provider.format, model_id: model.id, tools: [tool.id] })
}

/** Sends a message that the provider answers in a hostile way, and one that it answers normally. */
async function attackReply({ client }: RunningDaemon, provider: ScriptedProvider, agentId: string, step: Step): Promise<string[]> {
  const problems: string[] = []
  const { id } = await client.create('/conversations', { agent_id: agentId })
  const path = `/conversations/${id}/messages`
  provider.script = [step]
  const signal = AbortSignal.timeout(CLIENT_TIMEOUT_MS)
  const response = await client.post(path, { message: 'Hello' }, { signal }).catch((error: Error) => error)
  if (!(response instanceof Error)) {
    const { status, headers, text } = response
    if (status === 500) problems.push(`the reply returned 500: ${text.slice(0, 300)}`)
    try {
      checkResponse({ method: 'POST', url: `/api${path}`, status, headers, text })
    } catch (error) {
      problems.push((error as Error).message)
    }
  } else if (!signal.aborted) problems.push(`the request failed: ${response.message}`)
  provider.script = [streamText('Back ', 'again.')]
  const next = await client.post(path, { message: 'And now?', wait: true })
  if (next.status !== 200 || next.data.content !== 'Back again.')
    problems.push(`the next reply returned ${next.status}: ${next.text.slice(0, 300)}`)
  const { data } = await client.get(`/conversations/${id}`)
  for (const { usage, cost } of data.messages.filter(({ role }: Json) => role === 'assistant'))
    if (usage && !(usage.total_tokens >= 0 && usage.total_tokens < 1e9 && cost >= 0))
      problems.push(`the usage is ${JSON.stringify({ usage, cost })}`)
  return problems
}

function createAttacks(format: ProviderFormat): Record<string, Step> {
  const event = (text: string) => formatEvents(format, { text: [text], finish: null }).join('')
  const complete = (...text: string[]) => formatEvents(format, { text }).join('')
  const nested = `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`
  const withHeaders =
    (headers: Record<string, string>, body: string | Buffer): Step =>
    (response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).end(body)
  const callTools = (calls: { name: string; arguments: Record<string, unknown> | string }[]): Step => streamReply({ calls })
  return {
    'never answers': hang,
    'stalls after text': stallAfter('Hel'),
    'sends one byte at a time': trickle(20),
    'disconnects after text': disconnectAfter('Hel', 'lo'),
    'disconnects at once': (response) => response.destroy(),
    'ends without a finish reason': endEarlyAfter('Hel'),
    'sends nothing': sendBody(''),
    'sends HTML': sendBody('<html>proxy error</html>', 'text/html'),
    'sends broken JSON': sendBody('data: {broken\n\n'),
    'sends another structure': sendBody('data: {"choices":{"length":1e9}}\n\ndata: null\n\ndata: []\n\ndata: 7\n\n'),
    'sends invalid UTF-8': withHeaders({}, Buffer.concat([Buffer.from(event('a')), Buffer.from([0xff, 0xfe, 0x0a, 0x0a])])),
    'sends control characters': streamText('\u0000\u001b[2J\u009b31m\u202e'),
    'sends lone surrogates': sendBody(complete('X').replace('"X"', '"\\ud800"')),
    'claims to be gzip': withHeaders({ 'content-encoding': 'gzip' }, 'not gzip'),
    'sends a gzip bomb': withHeaders({ 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(200 * 1024 * 1024, ' '))),
    'claims a longer body': withHeaders({ 'content-length': '1000000' }, event('Hel')),
    'continues after the end': sendBody(`${complete('Hello')}${complete(' more')}`),
    'floods with text': flood(event('word '.repeat(1_000))),
    'floods with empty lines': flood('\n'.repeat(65_536)),
    'floods with comments': flood(`: ${'x'.repeat(10_000)}\n\n`),
    'floods one line': flood('data: '.padEnd(65_536, 'x')),
    'sends an event of 50 MB': sendBody(complete('x'.repeat(50 * 1024 * 1024))),
    'calls 8,000 tools': callTools(Array.from({ length: 8_000 }, () => ({ name: 'lookup', arguments: {} }))),
    'calls an unknown tool': callTools([{ name: 'rm -rf /', arguments: {} }]),
    'nests arguments 1,000 levels deep': callTools([
      { name: 'lookup', arguments: format === 'google' ? (JSON.parse(nested) as object as Record<string, unknown>) : nested },
    ]),
    'sends arguments that are no JSON': callTools([{ name: 'lookup', arguments: '{"a":' }]),
    'sends a prototype as arguments': callTools([{ name: 'lookup', arguments: JSON.parse('{"__proto__":{"x":1},"constructor":1}') }]),
    'reports negative usage': streamReply({ text: ['a'], usage: { input: -5, output: -5 } }),
    'reports endless usage': streamReply({ text: ['a'], usage: { input: 1e308, output: 1e308 } }),
    redirects: respondWithError(307, 'moved', { location: 'http://169.254.169.254/latest/meta-data' }),
    'returns 204': (response) => response.writeHead(204).end(),
    'returns 401 with the key': respondWithError(401, { error: { message: 'Incorrect API key: sk-attack' } }),
    'returns 500': respondWithError(500),
    'asks to wait for a year': respondWithError(429, undefined, { 'retry-after': '31536000' }),
    'returns an error of 20 MB': respondWithError(400, 'x'.repeat(20 * 1024 * 1024)),
    'sends 200 headers': (response) => {
      for (let at = 0; at < 200; at++) response.setHeader(`x-${at}`, 'x'.repeat(200))
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(complete('Hello'))
    },
  }
}
