/** Escape sequences in every text that users or servers provide: none reaches a screen or a pipe. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openChatTerminal } from '../../test/harness/chat-fixture.ts'
import { linkCommand, runCommand } from '../../test/harness/cli.ts'
import { TOKEN } from '../../test/harness/daemon.ts'
import { respondWithError, ScriptedProvider, streamText } from '../../test/harness/scripted-provider.ts'
import type { Json } from '../../test/harness/test-server.ts'
import { hasTmux } from '../../test/harness/tmux-terminal.ts'
import type { Client } from '../support/client.ts'
import { openDaemon, type RunningDaemon, withFolder } from '../support/daemon.ts'
import { waitForSyncs } from '../support/fill-home.ts'
import type { Scenario } from '../support/scenario.ts'

/** Sequences that Cadre itself never prints: title, cursor position, scroll, device control, colors by C1, overriding direction. */
const HOSTILE = '\u001b]0;attack\u0007\u001b[6;66H\u001b[66S\u001bP66;66q\u001b\\\u009b66m\u202eevil\u202c\b\b'
const REACHED = /\u001b\]0;attack|\u001b\[6;66H|\u001b\[66S|\u001bP66|\u009b66m|\u202e|\u0008/
/** Moves of the chat to the start of a line (src/tui/render/cursor-sequences.ts), the only backspaces that Cadre prints. */
const OWN_MOVES = /\r(?:\u0008\r)+/g
/** Also the name of a document. */
const PLAIN = 'plain.md'
const TERMINAL_TIMEOUT_MS = 120_000
const hasScript = spawnSync('script', ['--version']).status === 0

export const escapeSequences: Scenario = {
  name: 'escape-sequences',
  promise: 'No text of a document, a model or another user controls the terminal.',
  run: () =>
    withFolder(async (folder) => {
      const home = join(folder, 'home')
      const provider = await ScriptedProvider.start('openai', streamText('Hello ', HOSTILE, ' there.'))
      const daemon = await openDaemon(home)
      const violations: string[] = []
      try {
        const names = await createHostileResources(daemon, provider)
        const commands = createCommands(names)
        const environment = {
          PATH: process.env.PATH,
          HOME: home,
          CADRE_HOME: home,
          CADRE_KEYCHAIN: 'off',
          CADRE_TOKEN: TOKEN,
          CADRE_RATE_LIMIT: '0',
        }
        const command = linkCommand(join(folder, 'bin'))
        let screens = 0
        for (const words of commands) {
          const outputs: Record<string, string | undefined> = {}
          const { stdout, stderr } = await runCommand(command, words, { environment })
          outputs['a pipe'] = stdout + stderr
          if (hasScript) outputs['a terminal'] = await runOnTerminal(command, words, environment, join(folder, 'typescript'))
          for (const [place, output] of Object.entries(outputs)) {
            screens++
            const problem = output === undefined ? 'it did not end' : REACHED.test(output) ? describe(output) : undefined
            if (problem !== undefined) violations.push(`cadre ${words.join(' ').slice(0, 80)} to ${place}: ${problem}`)
          }
        }
        if (hasTmux) {
          screens++
          violations.push(...(await attackChat(home, names, provider, join(folder, 'chat'))))
        }
        return {
          amount: `${screens} screens and pipes of ${commands.length} commands and the chat`,
          figure: `${violations.length} with escape sequences`,
          violations,
        }
      } finally {
        await daemon.kill()
        await provider.close()
      }
    }),
}

const describe = (output: string): string => {
  const at = output.search(REACHED)
  return JSON.stringify(output.slice(Math.max(0, at - 60), at + 40))
}

/** Creates a resource with hostile texts. A field that must not contain them gets a plain text. */
async function createHostile(client: Client, path: string, fields: Record<string, unknown>): Promise<Json> {
  const { status, body, data, text } = await client.post(path, fields)
  if (status < 300) return data
  const field: string | undefined = body?.details?.[0]?.field
  if (status !== 400 || field === undefined || typeof fields[field] !== 'string' || fields[field] === PLAIN)
    throw new Error(`POST ${path} returned ${status}: ${text.slice(0, 300)}`)
  return createHostile(client, path, { ...fields, [field]: PLAIN })
}

type Ids = Record<
  'model' | 'agent' | 'source' | 'document' | 'rag' | 'retrieval' | 'tool' | 'template' | 'conversation' | 'evaluation' | 'webhook',
  string
>

async function createHostileResources({ client }: RunningDaemon, provider: ScriptedProvider): Promise<Ids> {
  const create = (path: string, fields: Record<string, unknown>) => createHostile(client, path, fields)
  const described = { name: `name ${HOSTILE}`, description: `description ${HOSTILE}` }
  const model = await create('/models', { ...provider.model, name: `model ${HOSTILE}` })
  const template = await create('/prompt-templates', { ...described, template: `Be ${HOSTILE}` })
  const source = await create('/knowledge-sources', { name: `source ${HOSTILE}`, type: 'file' })
  const content = `# Heading ${HOSTILE}\n\nThe copper lanterns ${HOSTILE} hang in the harbour.\n`
  const document = await create(`/knowledge-sources/${source.id}/documents`, { name: `lanterns ${HOSTILE}.md`, content })
  await client.post(`/knowledge-sources/${source.id}/sync`, {})
  await waitForSyncs(client)
  const rag = await create('/rag-tools', { ...described, knowledge_source_id: source.id, model_id: model.id })
  const retrieval = await create('/retrieval-tools', { ...described, knowledge_source_ids: [source.id] })
  const tool = await create('/api-tools', { ...described, url: provider.url, method: 'GET', allow_private_network: true })
  const agent = await create('/agents', { ...described, model_id: model.id, system_prompt: HOSTILE })
  const conversation = await create('/conversations', { agent_id: agent.id, title: `title ${HOSTILE}`, user_id: 'ada' })
  await client.post(`/conversations/${conversation.id}/messages`, { message: `question ${HOSTILE}` })
  const test_cases = [{ input: `case ${HOSTILE}`, expected_output: HOSTILE }]
  const evaluation = await create('/evaluations', { ...described, type: 'agent', target_id: agent.id, test_cases })
  await client.post(`/evaluations/${evaluation.id}/run`, {})
  const webhook = await create('/webhooks', {
    url: provider.url,
    description: HOSTILE,
    events: ['conversation.completed'],
    allow_private_network: true,
  })
  await client.post(`/webhooks/${webhook.id}/test`, {})
  await create('/tokens', { name: `token ${HOSTILE}`, role: 'viewer' })
  const ids = { model, agent, source, document, rag, retrieval, tool, template, conversation, evaluation, webhook }
  return Object.fromEntries(Object.entries(ids).map(([name, { id }]) => [name, id])) as Ids
}

function createCommands(ids: Ids): string[][] {
  const lists = [
    'agents',
    'prompts',
    'knowledge',
    'rag',
    'retrieval',
    'tools',
    'models',
    'conversations',
    'evaluations',
    'webhooks',
    'tokens',
  ]
  const shown: [string, string][] = [
    ['agents', ids.agent],
    ['prompts', ids.template],
    ['knowledge', ids.source],
    ['rag', ids.rag],
    ['retrieval', ids.retrieval],
    ['tools', ids.tool],
    ['models', ids.model],
    ['conversations', ids.conversation],
    ['evaluations', ids.evaluation],
    ['webhooks', ids.webhook],
  ]
  return [
    ...lists.map((topic) => [topic, 'list']),
    ...shown.map(([topic, id]) => [topic, 'show', id]),
    ...['json', 'yaml', 'csv'].map((format) => ['agents', 'list', '--output', format]),
    ['knowledge', 'documents', 'list', ids.source],
    ['knowledge', 'documents', 'show', ids.source, ids.document],
    ['conversations', 'messages', ids.conversation],
    ['conversations', 'export', ids.conversation],
    ['evaluations', 'results', ids.evaluation],
    ['evaluations', 'runs', ids.evaluation],
    ['webhooks', 'deliveries', ids.webhook],
    ['rag', 'query', ids.rag, 'Where are the copper lanterns?'],
    ['retrieval', 'search', ids.retrieval, 'copper lanterns', '--explain'],
    ['tools', 'test', ids.tool],
    ['models', 'test', ids.model],
    ['prompts', 'render', ids.template],
    ['ask', ids.agent, 'Hello'],
    ['agents', 'show', HOSTILE],
    ['agents', 'delete', HOSTILE, '--yes'],
    ['ask', HOSTILE, 'Hello'],
    ['api', 'GET', '/agents'],
    ['api', 'GET', `/${HOSTILE}`],
    ['config', 'get', HOSTILE],
    ['export'],
    ['status'],
    ['doctor'],
    ['usage'],
    ['analytics'],
    ['daemon', 'logs'],
    [HOSTILE],
  ]
}

/** Runs a command on a terminal and returns all bytes that it printed, undefined if it does not end. */
async function runOnTerminal(
  command: string,
  words: readonly string[],
  environment: Record<string, string | undefined>,
  file: string,
): Promise<string | undefined> {
  const quoted = [process.execPath, command, ...words].map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const child = spawn('script', ['--quiet', '--return', '--command', quoted, file], {
    env: { ...environment, TERM: 'xterm-256color' },
    stdio: 'ignore',
    timeout: TERMINAL_TIMEOUT_MS,
  })
  await once(child, 'close')
  return child.signalCode === null ? readFileSync(file, 'utf8').split('\n').slice(1, -1).join('\n') : undefined
}

/** Opens the chat, lets the model reply and fail, and returns what reached the terminal. */
async function attackChat(home: string, { agent }: Ids, provider: ScriptedProvider, record: string): Promise<string[]> {
  const terminal = openChatTerminal(home, { agent, environment: { CADRE_TOKEN: TOKEN } })
  try {
    terminal.record(record)
    await terminal.waitFor(/name/)
    terminal.type('Hello?')
    await terminal.waitFor(/there\./)
    provider.script = [respondWithError(400, { error: { message: `no ${HOSTILE} way` } })]
    terminal.type('And now?')
    await terminal.waitFor(/way/)
    for (const command of ['/resume', '\u001b', '/sources', '\u001b', 'quit']) terminal.type(command)
    await terminal.waitFor(/exit \d/)
  } catch (error) {
    return [`the chat: ${(error as Error).message.slice(0, 500)}`]
  } finally {
    terminal.close()
  }
  const output = readFileSync(record, 'utf8').replaceAll(OWN_MOVES, '')
  return REACHED.test(output) ? [`the chat: ${describe(output)}`] : []
}
