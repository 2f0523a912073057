/** Tests of the `webhooks` commands against a real daemon. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import type { Json } from '../../harness/test-server.ts'
import { Receiver } from '../../webhooks/receiver.ts'

const RUN = fileURLToPath(new URL('../../../bin/run.js', import.meta.url))

const test = suite('webhooks at the terminal')
let terminal: Terminal
let receiver: Receiver
let hook: Json
let agent: Json

test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    receiver = await Receiver.start()
    hook = await terminal.json([
      'webhooks',
      'create',
      '--url',
      receiver.url,
      '--events',
      'conversation.completed',
      '--allow-private-network',
    ])
    agent = await terminal.json(['agents', 'create', '--name', 'Helper'])
  }),
)
test.after(
  reportFailure(async () => {
    await receiver.close()
    await terminal.close()
  }),
)

const ok = async (words: string[]) => {
  const ran = await terminal.run(words)
  assert.is(ran.code, 0, `${words.join(' ')}: ${ran.stderr}`)
  return ran
}

async function complete(): Promise<string> {
  const { id } = await terminal.json<{ id: string }>(['conversations', 'create', '--agent', agent.id])
  await ok(['conversations', 'complete', id])
  return id
}

/** A running `webhooks listen` command. */
class ListenProcess {
  readonly #child: ChildProcess
  readonly #lines = { stdout: [] as string[], stderr: [] as string[] }
  #wake = () => {}

  constructor(words: string[]) {
    const environment = {
      PATH: process.env.PATH,
      HOME: terminal.home,
      CADRE_HOME: terminal.home,
      CADRE_KEYCHAIN: 'off',
      CADRE_PORT: '0',
      CADRE_TIMEOUT_FACTOR: process.env.CADRE_TIMEOUT_FACTOR,
    }
    this.#child = spawn(process.execPath, [RUN, 'webhooks', 'listen', ...words], { env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#child.once('exit', () => this.#wake())
    for (const name of ['stdout', 'stderr'] as const) {
      let rest = ''
      this.#child[name]?.setEncoding('utf8').on('data', (text: string) => {
        const lines = (rest + text).split('\n')
        rest = lines.pop() ?? ''
        this.#lines[name].push(...lines)
        this.#wake()
      })
    }
  }

  /** Waits for the next line that matches and drops the lines before it. */
  async line(name: 'stdout' | 'stderr', pattern: RegExp): Promise<string> {
    const dropped: string[] = []
    for (;;) {
      const line = this.#lines[name].shift()
      if (line !== undefined && pattern.test(line)) return line
      if (line !== undefined) dropped.push(line)
      else if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`no line on ${name} matched ${pattern}: ${dropped.join('\n')}`)
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }

  async end(): Promise<void> {
    const ended = once(this.#child, 'exit')
    this.#child.kill('SIGINT')
    await ended
  }
}

test('webhooks test reports the delivery, and exits with 1 if it fails', async () => {
  const { stderr, stdout } = await ok(['webhooks', 'test', receiver.url])
  assert.match(stderr, /Delivered webhook\.test \(204 after \d+ ms\)/)
  assert.is(stdout, '')
  receiver.answer = (reply) => reply.writeHead(500).end('broken')
  const failed = await terminal.run(['webhooks', 'test', hook.id, '--json'])
  assert.is(failed.code, 1)
  assert.match(failed.stderr, /Not delivered: The receiver responded with 500\. It will not be retried\./)
  assert.is(JSON.parse(failed.stdout).response_body, 'broken')
  receiver.answer = (reply) => reply.writeHead(204).end()
})

test('deliveries lists and shows deliveries, and redeliver sends them again', async () => {
  const listed = await ok(['webhooks', 'deliveries', receiver.url, '--status', 'failed'])
  assert.match(listed.stdout, /EVENT +STATUS +ATTEMPTS/)
  assert.match(listed.stdout, /webhook\.test +failed +1 +500/)
  assert.match(listed.stderr, /1 total/)
  const [failed] = await terminal.json<Json[]>(['webhooks', 'deliveries', hook.id, '--status', 'failed'])
  const shown = await terminal.json<Json>(['webhooks', 'deliveries', hook.id, failed.id])
  assert.equal([shown.history.length, shown.body.type], [1, 'webhook.test'])
  const again = await ok(['webhooks', 'redeliver', receiver.url, failed.id])
  assert.match(again.stderr, new RegExp(`${failed.id}: Delivered`))
  assert.match((await ok(['webhooks', 'redeliver', receiver.url, '--failed'])).stderr, /There are no failed deliveries/)
  assert.is((await terminal.run(['webhooks', 'redeliver', receiver.url])).code, 2)
  assert.is((await terminal.run(['webhooks', 'deliveries', receiver.url, 'dlv_none'])).code, 3)
  assert.match((await ok(['webhooks', 'deliveries', receiver.url, '--event', 'evaluation.finished'])).stderr, /No deliveries match/)
})

test('rotate-secret prints a new secret that verifies the next event', async () => {
  const { secret } = await terminal.json<Json>(['webhooks', 'rotate-secret', receiver.url, '--overlap-hours', '0'])
  await ok(['webhooks', 'test', receiver.url])
  const last = receiver.received.at(-1)
  new Webhook(secret).verify(last?.body ?? '', last?.headers ?? {})
  assert.throws(() => new Webhook(hook.secret).verify(last?.body ?? '', last?.headers ?? {}))
})

test('listen prints events as they happen and forwards them signed', async () => {
  const mine = await Receiver.start()
  const listening = new ListenProcess(['--forward-to', mine.url])
  const [, secret = ''] = /signed with (whsec_\S+)/.exec(await listening.line('stderr', /signed with/)) ?? []
  await listening.line('stderr', /Listening for events \(conversation\.completed, .*usage\.threshold_exceeded\)/)
  const id = await complete()
  assert.match(await listening.line('stdout', /./), new RegExp(`^\\d\\d:\\d\\d:\\d\\d conversation\\.completed conversation_id=${id} `))
  await listening.line('stderr', /→ 204 after \d+ ms/)
  const [received] = await mine.count(1)
  const verified = new Webhook(secret).verify(received?.body ?? '', received?.headers ?? {}) as Json
  assert.is(verified.data.conversation_id, id)
  assert.is(received?.headers.connection, 'close')
  await mine.close()
  await complete()
  await listening.line('stderr', /→ connection failed \(ECONNREFUSED\)/)
  await listening.end()
})

test('listen loses no events while the daemon restarts', async () => {
  const listening = new ListenProcess(['--json', '--events', 'conversation.completed,evaluation.finished'])
  await listening.line('stderr', /Listening for events/)
  await ok(['daemon', 'stop'])
  await listening.line('stderr', /Connection lost/)
  const id = await complete() // starts the daemon again on another port
  const event = JSON.parse(await listening.line('stdout', /./))
  assert.equal([event.type, event.data.conversation_id], ['conversation.completed', id])
  assert.match(event.id, /^evt_/)
  await listening.end()
})

test('listen rejects invalid flags before connecting', async () => {
  const assertRejected = async (words: string[], message: RegExp) => {
    const { code, stderr } = await terminal.run(['webhooks', 'listen', ...words])
    assert.is(code, 2)
    assert.match(stderr, message)
  }
  await assertRejected(['--events', 'conversation.complete'], /Unknown event "conversation\.complete"/)
  await assertRejected(['--forward-to', 'localhost:3000'], /http or https/)
  await assertRejected(['--forward-to', 'http://localhost:3000', '--secret', 'mine'], /--secret must start with whsec_/)
  await assertRejected(['--secret', 'whsec_AAAA'], /forward-to/)
})

test.run()
