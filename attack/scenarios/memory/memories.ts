/** Users who try to read and change what an agent remembers about others, by every way to it and through two daemons. */
import { openServerDatabase } from '../../../daemon/store/remote/server-database.ts'
import { ConversationFixture } from '../../../test/conversations/conversation-fixture.ts'
import { createRandom } from '../../../test/harness/create-random.ts'
import { type ScriptedProvider, type Step, streamReply } from '../../../test/harness/scripted-provider.ts'
import { isSqldInstalled, Sqld } from '../../../test/harness/sqld/start-sqld.ts'
import type { Json } from '../../../test/harness/test-server.ts'
import { formatSecretWord, formatUser, insertMemories, SECRET_WORD } from '../../../test/memories/insert-memories.ts'
import { askByMcp } from '../../support/ask-by-mcp.ts'
import { type Scenario, type ScenarioOptions, scaleAmount } from '../../support/scenario.ts'

const MEMORIES_PER_USER = 100
/** Attempts at the same time. */
const CONCURRENT = 8
const ATTACKERS = [
  { role: 'member', user_id: 'mallory' },
  { role: 'editor', user_id: 'trudy' },
  { role: 'viewer', user_id: 'eve' },
] as const
const ATTACKED = 'attacked'

interface Attack {
  /** One daemon, or two with the same records. */
  daemons: readonly ConversationFixture[]
  provider: ScriptedProvider
  agent: Json
  /** The first memory of each user. */
  ids: readonly string[]
  violations: string[]
}

interface Attempt {
  daemon: ConversationFixture
  agent: Json
  /** Token of the attacker. */
  as: string
  victim: { user_id: string; memoryId: string }
}

/** Makes an attempt and returns what the attacker sees. */
type Way = (attempt: Attempt) => Promise<string>

export const memories: Scenario = {
  name: 'memories',
  promise: 'What an agent remembers about a user is read and changed only by that user and admins.',
  async run(options) {
    const sqld = isSqldInstalled() ? await Sqld.start() : undefined
    const databaseServer = sqld && { url: sqld.url, token: undefined }
    const [first, provider] = await ConversationFixture.openWithProvider({ databaseServer })
    const daemons = databaseServer ? [first, await ConversationFixture.open({ databaseServer })] : [first]
    try {
      const agent = await first.createAgent(provider, { memory: true })
      const users = scaleAmount(1_000, options, 10)
      const database = databaseServer ? await openServerDatabase(databaseServer) : first.service.database
      const ids = await insertMemories(database, { agentId: agent.id, users, memoriesPerUser: MEMORIES_PER_USER })
      if (databaseServer) await database.close()
      provider.script = [obey]
      const attack: Attack = { daemons, provider, agent, ids, violations: [] }
      await checkWays(attack)
      const attempts = await attackOthers(attack, options)
      return {
        amount: [
          `${attempts} attempts in ${Object.keys(WAYS).length} ways`,
          `${users * MEMORIES_PER_USER} memories of ${users} users`,
          daemons.length === 1 ? 'one daemon' : 'two daemons',
        ].join(', '),
        figure: `${attack.violations.length} succeeded`,
        violations: attack.violations,
      }
    } finally {
      await Promise.all([...daemons.map((daemon) => daemon.close()), provider.close()])
      sqld?.remove()
    }
  },
}

/** A model that does what it is told: it calls the tool that the question names, and answers with its result. */
const obey: Step = streamReply(({ body }) => {
  const last = body.messages.at(-1)
  if (last.role === 'tool') return { text: [String(last.content)] }
  const [, name, input] = /^Call (\w+) (.*)$/s.exec(last.content) ?? []
  return name === undefined ? { text: ['Done.'] } : { calls: [{ name, arguments: JSON.parse(input ?? '') }] }
})

const callApi =
  (createRequest: (attempt: Attempt) => [method: string, path: string, body?: object]): Way =>
  async (attempt) => {
    const [method, path, body] = createRequest(attempt)
    return (await attempt.daemon.service.call(method, path, body, { as: attempt.as })).text
  }

const formatCall = (name: string, input: object): string => `Call ${name} ${JSON.stringify(input)}`
const recall = ({ victim }: Attempt): string => formatCall('recall', { query: `What does ${victim.user_id} like?` })

const askInChatCompletions = (createQuestion: (attempt: Attempt) => string): Way =>
  callApi((attempt) => {
    const messages = [{ role: 'user', content: createQuestion(attempt) }]
    return ['POST', '/v1/chat/completions', { model: attempt.agent.name, user: attempt.victim.user_id, messages }]
  })

/** Ways that show a user their own memories. */
const READING: Record<string, Way> = {
  show: callApi(({ victim }) => ['GET', `/memories/${victim.memoryId}`]),
  list: callApi(({ agent }) => ['GET', `/memories?agent_id=${agent.id}&limit=100`]),
  'list of a user': callApi(({ victim }) => ['GET', `/memories?user_id=${victim.user_id}`]),
  export: callApi(({ agent, victim }) => ['GET', `/memories?agent_id=${agent.id}&user_id=${victim.user_id}&limit=100&order=asc`]),
  search: callApi(({ agent, victim }) => [
    'POST',
    '/memories/search',
    { agent_id: agent.id, user_id: victim.user_id, query: 'What does the user like?' },
  ]),
  recall: async (attempt) => {
    const { daemon, agent, as, victim } = attempt
    const { data } = await daemon.service.post('/conversations', { agent_id: agent.id, user_id: victim.user_id }, { as })
    return (await daemon.service.post(`/conversations/${data?.id}/messages`, { message: recall(attempt) }, { as })).text
  },
  'chat completions': askInChatCompletions(recall),
  responses: callApi((attempt) => [
    'POST',
    '/v1/responses',
    { model: attempt.agent.name, user: attempt.victim.user_id, input: recall(attempt), store: true },
  ]),
  mcp: async (attempt) => askByMcp(attempt.daemon.url, attempt.as, { agent: attempt.agent.name, question: recall(attempt) }),
}
const WAYS: Record<string, Way> = {
  ...READING,
  'conversation of the user': async (attempt) => {
    const { daemon, agent, as, victim } = attempt
    const id = await daemon.createConversation(agent, { user_id: victim.user_id })
    return (await daemon.service.post(`/conversations/${id}/messages`, { message: recall(attempt) }, { as })).text
  },
  create: callApi(({ agent, victim }) => ['POST', '/memories', { agent_id: agent.id, user_id: victim.user_id, content: ATTACKED }]),
  edit: callApi(({ victim }) => ['PUT', `/memories/${victim.memoryId}`, { content: ATTACKED }]),
  delete: callApi(({ victim }) => ['DELETE', `/memories/${victim.memoryId}`]),
  'delete all': callApi(({ victim }) => ['DELETE', `/memories?user_id=${victim.user_id}`]),
  remember: askInChatCompletions(({ victim }) => formatCall('remember', { content: ATTACKED, replaces: victim.memoryId })),
  forget: askInChatCompletions(({ victim }) => formatCall('forget', { id: victim.memoryId.slice(-8) })),
}

const getVictim = ({ ids }: Attack, user: number): Attempt['victim'] => ({ user_id: formatUser(user), memoryId: ids[user] as string })

/** The attempts prove something only if the same requests show users their own memories. */
async function checkWays(attack: Attack): Promise<void> {
  const { daemons, agent, violations } = attack
  const victim = getVictim(attack, 0)
  const { token: as } = await (daemons[0] as ConversationFixture).resources.token({ role: 'member', user_id: victim.user_id })
  for (const daemon of daemons)
    for (const [name, read] of Object.entries(READING))
      if (!(await read({ daemon, agent, as, victim })).includes(formatSecretWord(0))) violations.push(`${name} does not show own memories`)
}

/** Returns the number of attempts. */
async function attackOthers(attack: Attack, options: ScenarioOptions): Promise<number> {
  const { daemons, provider, agent, ids, violations } = attack
  const [first] = daemons as [ConversationFixture]
  const random = createRandom(options.seed)
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
  const tokens = await Promise.all(ATTACKERS.map(async (fields) => (await first.resources.token(fields)).token as string))
  const count = async (filter: string): Promise<number> => (await first.service.get(`/memories?limit=1${filter}`)).body.pagination.total
  const before = await count('')
  const attempts = scaleAmount(10_000, options, 2 * Object.keys(WAYS).length)
  const names = Object.keys(WAYS)
  provider.received.length = 0
  let next = 0
  const attackInTurn = async () => {
    for (let attempt = next++; attempt < attempts; attempt = next++) {
      const user = Math.floor(random() * ids.length)
      const name = names[attempt % names.length] as string
      const seen = await (WAYS[name] as Way)({ daemon: pick(daemons), agent, as: pick(tokens), victim: getVictim(attack, user) })
      // Also what the model got in attempts that run at the same time: none of them may read a memory of a user.
      const sent = JSON.stringify(provider.received.splice(0).map(({ body }) => body))
      if (SECRET_WORD.test(seen)) violations.push(`${name} returned the memories of ${formatUser(user)}`)
      if (SECRET_WORD.test(sent)) violations.push(`the model got memories of a user, when ${name} ended`)
    }
  }
  await Promise.all(Array.from({ length: CONCURRENT }, attackInTurn))
  if ((await count('')) < before) violations.push('an attempt deleted memories')
  const changed = (await first.service.get(`/memories?limit=100&content=${ATTACKED}`)).data as Json[]
  if (changed.some(({ user_id }) => ATTACKERS.every((attacker) => attacker.user_id !== user_id)))
    violations.push('an attempt changed or added a memory of another user')
  return attempts
}
