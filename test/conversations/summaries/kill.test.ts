import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type DaemonProcess, startDaemon, TOKEN } from '../../harness/daemon.ts'
import { hang, type ReceivedRequest, ScriptedProvider, streamReply, streamText } from '../../harness/scripted-provider.ts'
import type { Json } from '../../harness/test-server.ts'

const test = suite('kill -9 during a summary')

const isSummary = ({ body }: ReceivedRequest): boolean => /^Summarize the earlier part/.test(body.messages[0].content)

test('all messages are kept, and the next attempt summarizes and answers', async () => {
  const root = mkdtempSync(join(tmpdir(), 'cadre-summary-kill-'))
  const provider = await ScriptedProvider.start('openai', streamText('the plan changes '.repeat(48)))
  let daemon: DaemonProcess = await startDaemon(root, { token: TOKEN })
  const callApi = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const response = await fetch(`${daemon.url}/api${path}`, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
    return ((await response.json()) as Json).data
  }
  try {
    const model = await callApi('POST', '/models', { name: 'scripted', ...provider.model, context_window: 4_000 })
    const agent = await callApi('POST', '/agents', { name: 'a', model_id: model.id })
    const { id } = await callApi('POST', '/conversations', { agent_id: agent.id })
    for (let turn = 1; turn <= 8; turn++) await callApi('POST', `/conversations/${id}/messages`, { message: `Message ${turn}` })
    provider.script = [hang]
    const message = `And now? ${'very '.repeat(320)}`
    const reached = provider.nextRequest()
    const sent = callApi('POST', `/conversations/${id}/messages`, { message }).catch(() => undefined)
    assert.ok(isSummary(await reached))
    await daemon.kill()
    await sent
    daemon = await startDaemon(root, { token: TOKEN })
    const { messages, summary } = await callApi('GET', `/conversations/${id}`)
    assert.equal([messages.length, messages.at(-2).content, messages.at(-1).finish_reason], [18, message, 'interrupted'])
    assert.is(summary, null)
    provider.script = [streamReply((request) => ({ text: [isSummary(request) ? 'a summary' : 'done'] }))]
    const reply = await callApi('POST', `/conversations/${id}/messages`, { retry: true })
    assert.equal([reply.content, reply.summarized_messages > 0], ['done', true])
    assert.is((await callApi('GET', `/conversations/${id}`)).summary.content, 'a summary')
  } finally {
    await daemon.kill()
    await provider.close()
    rmSync(root, { recursive: true, force: true })
  }
})

test.run()
