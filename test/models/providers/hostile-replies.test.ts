import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatEvents, type ProviderFormat } from '../../harness/provider-formats.ts'
import { ScriptedProvider, type Step, sendBody, streamReply } from '../../harness/scripted-provider.ts'
import { captureStreamError, collectParts, createRequest, joinText, KEY, ProviderFixture } from './provider-fixture.ts'

const FORMATS: readonly ProviderFormat[] = ['openai', 'anthropic', 'google']
const test = suite('hostile replies')
const fixture = new ProviderFixture()
const open: ScriptedProvider[] = []
test.after.each(async () => {
  await Promise.all(open.splice(0).map((provider) => provider.close()))
})
test.after(() => fixture.close())

const getModel = async (format: ProviderFormat, step: Step, fields = {}) => {
  const provider = await ScriptedProvider.start(format, step)
  open.push(provider)
  return fixture.getModel(provider, fields)
}

for (const format of FORMATS) {
  test(`${format}: an API key that the provider repeats is redacted from text and tool calls`, async () => {
    const hex = Buffer.from(KEY).toString('hex')
    const text = ['It is sk', KEY.slice(2, 9), KEY.slice(9), ', or ', hex.toUpperCase(), ' or ', ...hex, ', thanks']
    const calls = [{ name: 'look', arguments: { key: KEY, nested: [{ [KEY]: Buffer.from(`x${KEY}`).toString('base64') }] } }]
    const parts = await collectParts(await getModel(format, streamReply({ text, calls })))
    assert.is(joinText(parts), 'It is [redacted], or [redacted] or [redacted], thanks')
    const shown = JSON.stringify(parts)
    assert.not.match(shown.toLowerCase(), new RegExp(`zqxj|${hex.slice(8, 20)}|${Buffer.from(KEY).toString('base64').slice(4, 16)}`, 'i'))
    assert.match(shown, '"key":"[redacted]"')
  })

  test(`${format}: text that begins like the key is complete, also if the reply fails`, async () => {
    assert.is(joinText(await collectParts(await getModel(format, streamReply({ text: ['yes, ask', ' sk', '-', ''] })))), 'yes, ask sk-')
    const events = formatEvents(format, { text: ['yes, ask sk'], finish: null }).join('')
    const { parts } = await captureStreamError(await getModel(format, sendBody(events)), createRequest())
    assert.is(joinText(parts), 'yes, ask sk')
  })

  test(`${format}: an event of more than 4 MB fails the reply before the provider has sent all of it`, async () => {
    for (const unit of ['x'.repeat(64 * 1024), 'data: x\n'.repeat(8 * 1024)]) {
      let written = 0
      const flood: Step = async (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(`${formatEvents(format, { text: ['ok'], finish: null }).join('')}data: `)
        for (; written < 50 * 1024 * 1024 && !response.destroyed; written += unit.length)
          if (!response.write(unit)) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), sleep(1_000)])
        response.end('\n\n')
      }
      const { parts, error } = await captureStreamError(await getModel(format, flood), createRequest())
      assert.equal([joinText(parts), error.code], ['ok', 'PROVIDER_ERROR'])
      assert.match(error.message, /sent an event of more than 4 MB/)
      assert.ok(written < 40 * 1024 * 1024, `${written} bytes were sent`)
    }
  })
}

test('a stream of more than 4 MB whose events are small is complete, also if each line is sent separately', async () => {
  const [first = '', event = '', ...end] = formatEvents('openai', { text: ['word '] })
  const lines: Step = async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(first)
    for (let sent = 0; sent < 5 * 1024 * 1024; sent += event.length) {
      response.write(event.slice(0, -1))
      if (!response.write('\n')) await new Promise((resolve) => response.once('drain', resolve))
    }
    response.end(end.join(''))
  }
  const parts = await collectParts(await getModel('openai', lines))
  assert.ok(joinText(parts).length > 5 * 20_000)
  assert.is(parts.at(-1)?.type, 'end')
})

test('text after [DONE] is ignored, however the stream is split', async () => {
  const [head = '', ...rest] = formatEvents('openai', { text: ['All of it, even [DONE] and data: [DONE].'] })
  const body = `${head}${rest.join('')}${formatEvents('openai', { text: [' More.'] }).join('')}`
  const done = body.indexOf('data: [DONE]\n')
  const writeAt =
    (at: number): Step =>
    async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(body.slice(0, at))
      await sleep(30)
      response.end(body.slice(at))
    }
  for (const provider of ['openai-compatible', 'openai'])
    for (const step of [sendBody(body), writeAt(done), writeAt(done + 9), writeAt(done + 13), sendBody(body.replaceAll('\n', '\r\n'))]) {
      const parts = await collectParts(await getModel('openai', step, { provider }))
      assert.is(joinText(parts), 'All of it, even [DONE] and data: [DONE].', provider)
      assert.equal(parts.at(-1), { type: 'end', finishReason: 'stop', usage: { inputTokens: 12, outputTokens: 5, cachedTokens: 0 } })
    }
})

test.run()
