/** Forbidden addresses in every spelling, on every path on which the daemon sends requests. */
import { ScriptedProvider } from '../../test/harness/scripted-provider.ts'
import { KnowledgeFixture } from '../../test/knowledge/knowledge-fixture.ts'
import { BLOCKED_HOSTS, BLOCKED_NAMES, resolveBlockedName } from '../../test/outbound/blocked-addresses.ts'
import { callTool, createCallers, isBlocked } from '../../test/outbound/callers.ts'
import { startRecordingServer } from '../../test/outbound/recording-server.ts'
import type { Scenario } from '../support/scenario.ts'

/** Addresses of cloud metadata, of private networks and of this machine that no server of this test has. */
const FURTHER_HOSTS = [
  '169.254.169.254',
  '[fd00:ec2::254]',
  '10.0.0.1',
  '192.168.0.1',
  '172.16.0.1',
  '100.64.0.1',
  '[fe80::1]',
  '224.0.0.1',
]

export const addresses: Scenario = {
  name: 'addresses',
  promise: 'No request reaches a forbidden address.',
  async run() {
    const knowledge = await KnowledgeFixture.start({ resolve: resolveBlockedName })
    const server = await startRecordingServer()
    const ipv6Server = await startRecordingServer(undefined, '::1').catch(() => undefined) // a machine without IPv6
    const provider = await ScriptedProvider.start('openai', callTool)
    const violations: string[] = []
    let attempts = 0
    try {
      const callers = await createCallers(knowledge, provider)
      for (const [caller, call] of Object.entries(callers))
        for (const host of [...BLOCKED_HOSTS, ...Object.keys(BLOCKED_NAMES), ...FURTHER_HOSTS]) {
          const { port } = host.startsWith('[::1') && ipv6Server ? ipv6Server : server
          const outcome = await call(`http://${host}:${port}/`, false)
          attempts++
          const connections = server.connections + (ipv6Server?.connections ?? 0)
          if (connections > 0) violations.push(`${caller} connected to ${host}`)
          else if (!isBlocked(outcome)) violations.push(`${caller} did not block ${host}: ${JSON.stringify(outcome).slice(0, 300)}`)
          server.connections = 0
          if (ipv6Server) ipv6Server.connections = 0
        }
      const figure = `${violations.length} reached or not blocked`
      return { amount: `${attempts} attempts on ${Object.keys(callers).length} outgoing paths`, figure, violations }
    } finally {
      await knowledge.close()
      await Promise.all([server.close(), ipv6Server?.close(), provider.close()])
    }
  },
}
