/** Tool calls that need a confirmation, in a terminal and in the plain chat, with a real daemon. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { ChatFixture } from '../harness/chat-fixture.ts'
import { reportFailure } from '../harness/hooks.ts'
import { streamReply, streamText } from '../harness/scripted-provider.ts'
import { hasTmux } from '../harness/tmux-terminal.ts'

const test = suite('confirmations in a chat')
/** Skipped on machines without tmux. */
const atTerminal = hasTmux ? test : test.skip
let fixture: ChatFixture
let api: Server
const calls: string[] = []

test.before(
  reportFailure(async () => {
    fixture = await ChatFixture.open()
    api = createServer((request, response) => {
      calls.push(`${request.method} ${request.url}`)
      response.setHeader('content-type', 'application/json').end('{"deleted":true}')
    })
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(api.address() as AddressInfo).port}/users/{id}`
    const tool = await fixture.create('/api-tools', {
      name: 'delete_user',
      description: 'Deletes a user',
      method: 'DELETE',
      url,
      parameters: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      allow_private_network: true,
      requires_confirmation: true,
    })
    await fixture.createAgent('Janitor', { tools: [tool.id] })
  }),
)
test.before.each(() => {
  calls.length = 0
})
test.after(
  reportFailure(async () => {
    await fixture.close()
    await new Promise((resolve) => api.close(resolve))
  }),
)

const ENTER = '\r'

atTerminal('a tool call that needs a confirmation is refused with n and allowed with y', async () => {
  const wants = streamReply({ calls: [{ id: 'call_1', name: 'delete_user', arguments: { id: '42' } }] })
  fixture.script(wants, streamText('As you wish.'), wants, streamText('It is done.'))
  const terminal = fixture.openChat({ agent: 'Janitor' })
  await terminal.waitFor(/Ask Janitor/)
  terminal.write(`Delete user 42${ENTER}`)
  await terminal.waitFor(/delete_user wants to run with id: 42\n {4}DELETE http:\/\/127\.0\.0\.1:\d+\/users\/42\n {4}Allow\? y.yes · n.no/)
  terminal.write('n')
  await terminal.waitFor(/– delete_user id: 42 · refused/)
  await terminal.waitFor(/As you wish\.[\s\S]*tokens/)
  assert.equal(calls, [])
  terminal.write(`Do it${ENTER}`)
  await terminal.waitFor(/Allow\? y.yes/)
  terminal.write('y')
  await terminal.waitFor(/It is done\./)
  await terminal.waitFor(/✓ delete_user id: 42 · \d\.\d s\n {4}→ .*deleted/)
  assert.equal(calls, ['DELETE /users/42'])
})

atTerminal('the arguments of a tool call can be edited, and the agent can be allowed to make all further calls', async () => {
  const wants = streamReply({ calls: [{ id: 'call_1', name: 'delete_user', arguments: { id: '42' } }] })
  fixture.script(wants, streamText('Deleted once.'), wants, streamText('Deleted again.'))
  const terminal = fixture.openChat({ agent: 'Janitor', columns: 40, environment: { EDITOR: 'sleep 2; sed -i s/42/43/' } })
  await terminal.waitFor(/Ask Janitor/)
  terminal.write(`Delete user 42${ENTER}`)
  await terminal.waitFor(/Allow\? y.yes[\s\S]*e.edit.arguments/)
  terminal.write('e')
  await terminal.waitFor(/with id: 43\s+\(changed\)\s+DELETE\s+http:\S+\/users\/43\n[\s\S]*a.always.with.this.agent/)
  terminal.write('a')
  await terminal.waitFor(/Always allow delete_user with\s+Janitor\? Enter.confirms/)
  terminal.write(ENTER)
  await terminal.waitFor(/Deleted once\.[\s\S]*delete_user no longer asks|delete_user no longer asks[\s\S]*Deleted once\./)
  const [, seconds] = /id: 43 · (\d+\.\d) s/.exec(terminal.readAll()) ?? []
  assert.ok(Number(seconds) < 2, `the time of the decision is not part of the call: ${terminal.readAll()}`)
  terminal.write(`Again${ENTER}`)
  await terminal.waitFor(/Deleted again\./)
  assert.equal(calls, ['DELETE /users/43', 'DELETE /users/42'])
  const [{ id }] = await fixture.get('/agents?name=Janitor')
  const { tools, allowed_tools } = await fixture.get(`/agents/${id}`)
  assert.equal(allowed_tools, tools)
  assert.is((await fixture.run(['tools', 'disallow', 'delete_user', '--agent', 'Janitor'])).code, 0)
})

atTerminal('after "always", further calls of the same reply do not ask, and later replies ask if it is taken back', async () => {
  const drop = (...ids: string[]) => streamReply({ calls: ids.map((id) => ({ name: 'delete_user', arguments: { id } })) })
  fixture.script(drop('1', '2'), drop('3'), streamText('All deleted.'), drop('4'), streamText('Kept.'))
  const terminal = fixture.openChat({ agent: 'Janitor' })
  await terminal.waitFor(/Ask Janitor/)
  terminal.write(`Delete all${ENTER}`)
  await terminal.waitFor(/Allow\? y.yes/)
  terminal.write('t')
  await terminal.waitFor(/Always allow delete_user with all agents\? Enter.confirms · Esc.goes.back/)
  terminal.write(ENTER)
  await terminal.waitFor(/All deleted\.[\s\S]*tokens/)
  assert.equal(calls.sort(), ['DELETE /users/1', 'DELETE /users/2', 'DELETE /users/3'])
  assert.is((await fixture.run(['tools', 'disallow', 'delete_user'])).code, 0)
  terminal.write(`Another${ENTER}`)
  await terminal.waitFor(/id: 4\n[\s\S]*Allow\? y.yes/)
  terminal.write('n')
  await terminal.waitFor(/Kept\./)
})

test('after the end of its input, chat --plain refuses tool calls that require confirmation', async () => {
  fixture.script(streamReply({ calls: [{ name: 'delete_user', arguments: { id: '7' } }] }), streamText('Not deleted.'))
  const { code, stdout } = await fixture.run(['chat', 'Janitor', '--plain'], { input: 'Delete user 7\n' })
  assert.equal([code, calls], [0, []])
  assert.match(stdout, /delete_user wants to run.*[\s\S]*Not deleted\./)
})

test('the plain chat asks again after other arguments and unknown answers', async () => {
  fixture.script(streamReply({ calls: [{ name: 'delete_user', arguments: { id: '7' } }] }), streamText('Deleted.'))
  const input = 'Delete user 7\nyse\n{"id": \n{"id": "8"}\nyes\n'
  const { code, stdout } = await fixture.run(['chat', 'Janitor', '--plain'], { input })
  assert.equal([code, calls], [0, ['DELETE /users/8']])
  const [, question = ''] = /users\/7 with id: 7\. (Allow\? .*)/.exec(stdout) ?? []
  const [, asked = ''] = stdout.split('users/7 with id: 7. ')
  const lines = asked.split('\n')
  assert.equal(lines.slice(0, 2), [question, question])
  assert.ok(lines[2]?.startsWith('The arguments are not valid JSON: ') && lines[2].endsWith(`They are unchanged. ${question}`), stdout)
  assert.ok(lines[3]?.endsWith(`/users/8 with id: 8. ${question}`), stdout)
  assert.match(asked, 'Deleted.')
})

test.run()
