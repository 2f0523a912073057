/** Tests of `cadre ask --retry` and of /retry in the plain chat. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { disconnectAfter, respondWithError, ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'

const test = suite('ask --retry')
let terminal: Terminal
let provider: ScriptedProvider
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    provider = await ScriptedProvider.start('openai', streamText('Hello.'))
    await terminal.run(['daemon', 'start'])
    const model = (await terminal.request('POST', '/models', { name: 'scripted', ...provider.model })).data.id
    await terminal.request('POST', '/agents', { name: 'Helper', model_id: model })
  }),
)
test.after(
  reportFailure(async () => {
    await terminal.close()
    await provider.close()
  }),
)

const listMessages = async (): Promise<string[]> => {
  const [{ id }] = (await terminal.request('GET', '/conversations?limit=1&sort=updated_at')).data
  return (await terminal.request('GET', `/conversations/${id}`)).data.messages.map(({ content }: { content: string }) => content)
}

test('without a conversation there is nothing to retry', async () => {
  const { code, stderr } = await terminal.run(['ask', '--retry'])
  assert.is(code, 3)
  assert.match(stderr, 'There is no conversation')
})

test('a failed message is answered again and stored once', async () => {
  for (const step of [respondWithError(401), disconnectAfter('half')]) {
    provider.script = [step]
    assert.is.not((await terminal.run(['ask', 'How many days?'])).code, 0)
    provider.script = [streamText('Twenty-five.')]
    const { code, stdout, stderr } = await terminal.run(['ask', '--retry'])
    assert.equal([code, stdout], [0, 'Twenty-five.\n'], stderr)
    assert.equal(await listMessages(), ['How many days?', 'Twenty-five.'])
    const sent = provider.received.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === 'user')
    assert.is(sent.length, 1)
  }
})

test('a complete reply is printed again without asking the model', async () => {
  const calls = provider.received.length
  const { code, stdout, stderr } = await terminal.run(['ask', '--retry'])
  assert.equal([code, stdout, provider.received.length], [0, 'Twenty-five.\n', calls])
  assert.match(stderr, 'The last message already has a complete reply')
})

test('--retry takes no question and cannot be combined with --continue', async () => {
  const question = await terminal.run(['ask', '--retry', 'How many?'])
  assert.is(question.code, 2)
  assert.match(question.stderr, '--retry takes no question')
  assert.is((await terminal.run(['ask', '--retry', '--continue'])).code, 2)
})

test('/retry in the plain chat answers a failed message again, and a complete reply too', async () => {
  provider.script = [respondWithError(401), streamText('Now it works.'), streamText('Differently.')]
  const { stdout } = await terminal.run(['chat', 'Helper', '--plain'], { input: 'Hello\n/retry\n/retry\n' })
  assert.match(stdout, /Now it works\.[\s\S]*Differently\./)
  assert.equal(await listMessages(), ['Hello', 'Differently.'])
})

test.run()
