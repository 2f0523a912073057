/** Tests of the notices about memories that an agent does not use. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../harness/cli.ts'
import { reportFailure } from '../harness/hooks.ts'

const test = suite('unused memories')
let terminal: Terminal
test.before(
  reportFailure(async () => {
    terminal = openTerminal()
    await terminal.run(['daemon', 'start'])
  }),
)
test.after(reportFailure(() => terminal.close()))

const QUOTES =
  /does not use its memory, because its model .* only quotes documents\. To use another model: cadre agents update Ada --model NAME\n/

test('creating or updating an agent of the embedded model with memory says that it does not use it', async () => {
  assert.match((await terminal.run(['agents', 'create', '--name', 'Ada', '--memory'])).stderr, QUOTES)
  const update = async (...flags: string[]) => (await terminal.run(['agents', 'update', 'Ada', ...flags])).stderr
  assert.match(await update('--memory'), QUOTES)
  assert.not.match(await update('--no-memory'), QUOTES)
  await update('--memory')
  assert.match(await update('--model', 'null'), QUOTES)
  assert.not.match(await update('--description', 'Answers.'), QUOTES)
})

test('a fact for an agent that does not use its memory is stored, with the reason', async () => {
  const add = (fact: string) => terminal.run(['memory', 'add', fact, '--agent', 'Ada'])
  const quoting = await add('The user works in Berlin.')
  assert.equal([quoting.code, QUOTES.test(quoting.stderr)], [0, true])
  await terminal.run(['agents', 'update', 'Ada', '--no-memory'])
  const off = await add('The user has a dog.')
  const hint = 'Ada does not use its memory, because it is turned off. To turn it on: cadre agents update Ada --memory'
  assert.equal([off.code, off.stderr.split('\n')[1]], [0, hint])
  const line = JSON.stringify({ content: 'The user has a cat.' })
  const imported = await terminal.run(['memory', 'import', '-', '--agent', 'Ada'], { input: `${line}\n` })
  assert.equal(imported.stderr.split('\n').slice(0, 2), ['Imported 1 memory.', hint])
})

test('an agent whose model writes its own text uses its memory', async () => {
  await terminal.run(['models', 'create', '--name', 'llama', '--provider', 'ollama', '--model-id', 'llama3.2'])
  for (const flags of [['--model', 'llama'], ['--memory']])
    assert.not.match((await terminal.run(['agents', 'update', 'Ada', ...flags])).stderr, 'does not use')
  assert.not.match((await terminal.run(['memory', 'add', 'The user has a bird.', '--agent', 'Ada'])).stderr, 'does not use')
})

test.run()
