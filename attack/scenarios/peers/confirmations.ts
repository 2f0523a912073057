/** An MCP client that answers questions itself, repeats answers, and uses them for other calls. */
import { join } from 'node:path'
import type { Json } from '../../../test/harness/test-server.ts'
import { ACCEPTED, sendToolCall } from '../../../test/mcp/send-tool-call.ts'
import { startRecordingServer } from '../../../test/outbound/recording-server.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../../support/daemon.ts'
import { type Scenario, scaleAmount } from '../../support/scenario.ts'

const TOOL = 'pay'

export const confirmations: Scenario = {
  name: 'confirmations',
  promise: 'The answer to a question of an MCP client allows one call: the one in the question, by the token that was asked.',
  run: (options) =>
    withFolder(async (folder) => {
      const repetitions = scaleAmount(50, options, 5)
      const violations: string[] = []
      const server = await startRecordingServer()
      const home = join(folder, 'home')
      let daemon = await openDaemon(home)
      try {
        const [token, other] = await prepare(daemon, server.origin)
        const call = (to: string, more: object = {}, changes: object = {}): Promise<Json> =>
          sendToolCall({ url: daemon.url, token, name: TOOL, arguments: { to }, more, ...changes })
        const ask = async (to = 'A') => ({ ...ACCEPTED, requestState: (await call(to)).requestState })

        const spent = await ask()
        await call('A', spent)
        if (server.requests.length !== 1) violations.push(`a confirmed call ran ${server.requests.length} times`)
        const refused = await ask()
        await call('A', { ...refused, inputResponses: { confirmation: { action: 'decline' } } })
        const attempts: Record<string, () => Promise<unknown>> = {
          'an answer without a question': () => call('A', ACCEPTED),
          'a guessed question': () => call('A', { ...ACCEPTED, requestState: 'guessed' }),
          'a question of another type': () => call('A', { ...ACCEPTED, requestState: ['A'] }),
          'other arguments': async () => call('B', await ask()),
          'more arguments': async () => call('A', await ask(), { arguments: { to: 'A', amount: 1 } }),
          'another token': async () => call('A', await ask(), { token: other }),
          'a client that cannot ask': async () => call('A', await ask(), { capabilities: {} }),
          'an answer that was used': () => call('A', spent),
          'an answer after a refusal': () => call('A', refused),
        }
        for (const [name, attempt] of Object.entries(attempts)) {
          const before = server.requests.length
          await attempt()
          if (server.requests.length !== before) violations.push(`${name} ran the tool`)
        }
        const answer = await ask()
        const before = server.requests.length
        await Promise.all(Array.from({ length: repetitions }, () => call('A', answer)))
        const ran = server.requests.length - before
        if (ran !== 1) violations.push(`an answer that was sent ${repetitions} times at once ran the tool ${ran} times`)
        await daemon.kill()
        daemon = await openDaemon(home)
        await call('A', answer)
        if (server.requests.length !== before + ran) violations.push('an answer that was used ran the tool again after a kill')
        return {
          amount: `${Object.keys(attempts).length + 1} false answers, one answer sent ${repetitions} times at once`,
          figure: `${violations.length} calls without confirmation`,
          violations,
        }
      } finally {
        await Promise.all([daemon.kill(), server.close()])
      }
    }),
}

/** Creates a tool that requires confirmation. Returns two tokens. */
async function prepare({ client }: RunningDaemon, origin: string): Promise<[string, string]> {
  await client.create('/api-tools', {
    name: TOOL,
    method: 'POST',
    url: `${origin}/pay`,
    allow_private_network: true,
    parameters: { type: 'object', properties: { to: { type: 'string' }, amount: { type: 'number' } } },
    expose_mcp: true,
  })
  const createToken = async (name: string) => (await client.create('/tokens', { name, role: 'editor' })).token
  return [await createToken('first'), await createToken('second')]
}
