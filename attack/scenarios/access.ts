/** Every route with every role, for resources of one's own, of others and of nobody. */
import { hasAccess, ROLES, type Role, type Route } from '../../src/contract/route.ts'
import { ALL_ROUTES, FAMILIES } from '../../src/contract/routes.ts'
import { Resources } from '../../test/harness/resources.ts'
import { createSamples } from '../../test/harness/samples.ts'
import { type Json, TestServer } from '../../test/harness/test-server.ts'
import type { Scenario } from '../support/scenario.ts'

const OWNERS = ['ada', 'bob', null] as const

interface Attack {
  server: TestServer
  checks: number
  violations: string[]
}

export const access: Scenario = {
  name: 'access',
  promise: 'A token reaches what its role allows, and a member only the conversations of their user.',
  async run() {
    const server = await TestServer.start()
    const attack: Attack = { server, checks: 0, violations: [] }
    try {
      await attackRoutes(attack)
      await attackConversations(attack)
    } finally {
      await server.close()
    }
    const { checks, violations } = attack
    return { amount: `${checks} requests: role × route × owner`, figure: `${violations.length} reached what they may not`, violations }
  },
}

/** Calls routes that a token may not call with existing identifiers and valid bodies, and checks that nothing changed. */
async function attackRoutes(attack: Attack): Promise<void> {
  const { server, violations } = attack
  const resources = new Resources(server)
  const samples = createSamples(resources)
  const ids = new Map<string, string>()
  for (const { name, path } of FAMILIES) ids.set(path, (await samples[name]?.create(0))?.id)
  const changes = new Map(FAMILIES.map(({ name, path }) => [path, samples[name]?.change]))
  const deleted = await resources.token({ role: 'admin' })
  await server.delete(`/tokens/${deleted.id}`)
  const before = await readEverything(server)
  const callers: (Role | string | null)[] = [...ROLES, null, 'wrong', 'cadre_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', deleted.token]
  for (const route of ALL_ROUTES)
    for (const as of callers) {
      const isRole = ROLES.includes(as as Role)
      if (route.access === 'public' || (isRole && hasAccess(as as Role, route.access))) continue
      const family = FAMILIES.find(({ path }) => route.path === path || route.path.startsWith(`${path}/`))?.path ?? ''
      const path = route.path.replace('{id}', ids.get(family) ?? 'nobody').replaceAll(/\{\w+\}/g, 'nobody')
      const { status, text } = await server.call(route.method, path, route.body ? (changes.get(family) ?? {}) : undefined, { as })
      attack.checks++
      const expected = isRole ? 403 : 401
      if (status !== expected)
        violations.push(`${route.method} ${route.path} as ${as ?? 'nobody'} returned ${status}: ${text.slice(0, 200)}`)
    }
  if ((await readEverything(server)) !== before) violations.push('a forbidden request changed something')
}

/** All resources as text. Tokens are omitted, because the roles of this attack are created on first use. */
async function readEverything(server: TestServer): Promise<string> {
  const lists: Json[] = []
  for (const { name, path } of FAMILIES) if (name !== 'tokens') lists.push((await server.get(`${path}?limit=100&sort=id`)).data)
  return JSON.stringify(lists)
}

/** Calls every route of conversations as two members, for conversations of themselves, of each other and of nobody. */
async function attackConversations(attack: Attack): Promise<void> {
  const { server, violations } = attack
  const resources = new Resources(server)
  const agent = await resources.agent()
  const routes = ALL_ROUTES.filter(({ path }) => path.startsWith('/conversations/{id}'))
  for (const user of ['ada', 'bob']) {
    const { token } = await resources.token({ role: 'member', user_id: user })
    for (const owner of OWNERS)
      for (const route of routes) {
        // A new one for each request, because a member may delete their own.
        const { id } = await resources.conversation({ agent_id: agent.id, ...(owner === null ? {} : { user_id: owner }) })
        const { status, text } = await callConversation(server, route, id, token)
        attack.checks++
        const isOwn = owner === user
        if (isOwn ? [401, 403].includes(status) : status !== 404)
          violations.push(`${route.method} ${route.path} of ${owner ?? 'nobody'} as ${user} returned ${status}: ${text.slice(0, 200)}`)
        const after = await server.get(`/conversations/${id}`)
        if (!isOwn && (after.status !== 200 || after.data.title === 'changed' || after.data.messages.length > 0))
          violations.push(`${route.method} ${route.path} of ${owner ?? 'nobody'} as ${user} changed it`)
      }
    for (const query of ['', '?user_id=ada', '?user_id=bob', '?limit=100', `?agent_id=${agent.id}`, '?sort=user_id&order=desc']) {
      const { data } = await server.get(`/conversations${query}`, { as: token })
      attack.checks++
      const foreign = (data as Json[]).filter(({ user_id }) => user_id !== user)
      if (foreign.length > 0) violations.push(`GET /conversations${query} as ${user} lists ${foreign.length} of others`)
    }
    await attackOwnership(attack, agent.id, user, token)
  }
}

function callConversation(server: TestServer, { method, path, body }: Route, id: string, token: string) {
  const bodies: Record<string, object> = {
    PUT: { title: 'changed' },
    PATCH: { title: 'changed' },
    POST: path.endsWith('/messages') ? { message: 'Hello' } : path.endsWith('/confirmations') ? { tool_call_id: 'x', allow: true } : {},
  }
  const url = path.replace('{id}', id).replaceAll(/\{\w+\}/g, 'nobody')
  return server.call(method, url, body ? bodies[method] : undefined, { as: token })
}

/** Tries to write into the conversations of another user by changing owners. */
async function attackOwnership(attack: Attack, agentId: string, user: string, token: string): Promise<void> {
  const { server, violations } = attack
  const other = user === 'ada' ? 'bob' : 'ada'
  const own = await server.post('/conversations', { agent_id: agentId }, { as: token })
  const foreign = await server.post('/conversations', { agent_id: agentId, user_id: other }, { as: token })
  const moved = await server.patch(`/conversations/${own.data?.id}`, { user_id: other }, { as: token })
  attack.checks += 3
  if (own.data?.user_id !== user) violations.push(`a conversation created by ${user} belongs to ${own.data?.user_id}`)
  if (foreign.status < 300 && foreign.data.user_id !== user) violations.push(`${user} created a conversation of ${other}`)
  if (moved.status < 300 && moved.data.user_id !== user) violations.push(`${user} gave a conversation to ${other}`)
}
