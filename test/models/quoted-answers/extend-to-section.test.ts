import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NeighbouringPassage } from '../../../daemon/core/tool.ts'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { createScriptedReader } from './scripted-reader.ts'

const test = suite('answers that begin before a passage or go on after it')

/** Answers from one passage with a reader that points at these words. */
async function answer(text: string, [content, source, headings = [source]]: Passage, words: string, after: NeighbouringPassage[] = []) {
  const passages = [{ content, source, page: 1, headings }]
  return (
    await answerQuestion(
      createScriptedReader(() => ({ answer: words })),
      { text, passages, listNeighbours: async () => ({ before: [], after }) },
    )
  ).text
}

type Passage = [content: string, source: string, headings?: string[]]

test('what a passage announces at its end is quoted from the next one of the section', async () => {
  const comment: Passage = ['# Include other files here.\n#\n# They can include others.', 'redis.conf', ['redis.conf', 'FILES']]
  const setting = {
    content: '# Wildcards are allowed.\n#\n# include /path/to/local.conf\n\n# port 80',
    headings: ['redis.conf', 'FILES'],
    gap: 1,
  }
  const ask = (next: NeighbouringPassage) => answer('How do I include another file?', comment, 'Include other files', [next])
  assert.is(await ask(setting), '```\n# Include other files here.\n…\n# include /path/to/local.conf\n```\n\n[1]')
  assert.is(await ask({ ...setting, headings: ['redis.conf', 'OTHERS'], gap: 1 }), '```\n# Include other files here.\n```\n\n[1]')

  const next = { content: '```sh\ncadre start\n```\n\nThen ask.', headings: ['a.md'], gap: 1 }
  const announced = await answer('How do I start it?', ['It rains. Start it like this:', 'a.md'], 'Start it like this', [next])
  assert.match(announced, /“Start it like this:” \[1\]\n\n```sh\ncadre start\n```$/)

  const cut = 'Start it:\n\n```sh\ncadre start'
  const end = { content: 'cadre chat\n```\n\nThen ask.', headings: ['a.md'], gap: 1 }
  const completed = await answer('How do I start it?', [cut, 'a.md'], 'Start it:', [end])
  assert.is(completed, '“Start it:” [1]\n\n```sh\ncadre start\ncadre chat\n```')

  const steps = { content: '3. Lock the door.\n\nGo home.', headings: ['a.md'], gap: 1 }
  const list = 'To close the shop:\n\n1. Count the money.\n2. Switch off the light.'
  const whole = '“To close the shop:” [1] (3 items)\n\n1. Count the money.\n2. Switch off the light.\n3. Lock the door.'
  assert.is(await answer('How do I close the shop?', [list, 'a.md'], 'To close the shop:', [steps]), whole)
  const items = 'Count the money.\n2. Switch off the light'
  assert.is(await answer('How do I close the shop?', [list, 'a.md'], items, [steps]), whole)
})

test('a paragraph of the next passage is no part of the last item of a list', async () => {
  const content = 'Roles:\n\n- Ann opens the shop at nine.\n- Bob closes the shop at six.'
  const next = { content: '\n\nBoth are paid on Fridays.', headings: ['a.md'], gap: 0 }
  const text = await answer('Who closes the shop?', [content, 'a.md'], 'closes the shop at six', [next])
  assert.is(text, '“Bob closes the shop at six.” [1]')
})

test('an item that is no sentence is quoted below what announces it, and without the paragraph below the list', async () => {
  const content = 'You must wear:\n\n- glasses\n- a mask, when sanding\n\nSome things are not allowed:\n\n- loose sleeves\n- music'
  const ask = (text: string, words: string) => answer(text, [content, 'a.md'], words)
  assert.is(await ask('What is needed when sanding?', 'a mask'), '**a mask**\n\n“You must wear: … a mask, when sanding” [1]')
  assert.is(await ask('Is music played?', 'music'), '“Some things are not allowed: … music” [1]')
})

test('what announces an item decides whether something is allowed', async () => {
  const content = 'Allowed:\n\n- tools\n- Not allowed:\n  - knives\n  - alcohol'
  assert.match(await answer('Is alcohol allowed?', [content, 'a.md'], 'alcohol'), /^\*\*No\*\*\n\n“Not allowed: … alcohol”/)
  const needs = 'The lamp does not need:\n\n- a new bulb of the kind that is sold in the shop'
  assert.match(await answer('What does the lamp need?', [needs, 'a.md'], 'a new bulb'), /^“The lamp does not need:/)
})

test('what an option does is no yes or no about the command', async () => {
  const content = '## export\n\n- `--keep`: Do not delete the tracks after the export.'
  assert.match(await answer('Does export delete the tracks?', [content, 'a.md'], 'Do not delete the tracks'), /^“--keep: Do not/)
})

test('a value is not bold if the paragraph of its item has other words of the question', async () => {
  const content = 'Courts:\n\n1. Hall: 9 euros\n2. Indoor court: 14 euros\n\n   On Sundays, it costs 10 euros.'
  const text = await answer('How much is the indoor court on Sundays?', [content, 'a.md'], '14 euros')
  assert.match(text, /^“Courts: … Indoor court: 14 euros On Sundays, it costs 10 euros\.” \[1\]$/)
})

test('lines of code keep their indentation where a passage cuts them', async () => {
  const content = 'Set it:\n\n```yaml\nserver:\n  port: 80'
  const next = { content: 'host: a\n```', headings: ['a.md'], gap: 3 }
  const text = await answer('How do I set the port?', [content, 'a.md'], 'port: 80', [next])
  assert.match(text, /server:\n {2}port: 80\n {2}host: a\n```/)
})

test('a sentence that the passage cuts is quoted as a whole', async () => {
  const next = { content: ' and closes at six. It rains.', headings: ['a.md'], gap: 0 }
  const text = await answer('When does the shop open?', ['It snows. The shop opens at nine', 'a.md'], 'at nine', [next])
  assert.is(text, '**at nine**\n\n“The shop opens at nine and closes at six.” [1]')
})

test('what an item announces is quoted with it, without the items below that', async () => {
  const steps = '1. Ask for it.\n2. It is decided by several factors. These are:\n   * the costs\n   * the workload\n3. You get an answer.'
  const passage: Passage = [steps, 'a.md']
  const factors = await answer('What counts for the decision?', passage, 'several factors')
  assert.match(factors, /“It is decided by several factors. These are:” \[1\]\n\n\* the costs\n\* the workload$/)
  const nested = '* Log it:\n\n  * Open the profile\n  * Press the button\n  * Add the price\n* Go there'
  const found = await answer('How do I log it?', [nested, 'a.md'], 'Open the profile\n  * Press')
  assert.match(found, /Open the profile\n *\* Press the button\n *\* Add the price$/)
})

test('code that the last item of a list announces is quoted from the next passage', async () => {
  const content = 'Steps:\n\n- Install it with the package manager of your system.\n- Start it in the folder like this:'
  const next = { content: '\n\n  ```sh\n  cadre start\n  ```', headings: ['a.md'], gap: 0 }
  const text = await answer('How do I start it?', [content, 'a.md'], 'Start it in the folder', [next])
  assert.match(text, /“Start it in the folder like this:” \[1\]\s+```sh\s+cadre start/)
})

test('a sentence that announces paragraphs is quoted with them, up to the next heading', async () => {
  const rules = 'The name must say so.\n\nThe picture must differ.'
  const content = `Parodies are allowed if they follow these rules:\n\n${rules}\n\n## Names\n\nBe short.`
  const text = await answer('Which rules are there for parodies?', [content, 'a.md'], 'follow these rules:')
  assert.is(text, `“Parodies are allowed if they follow these rules:” [1]\n\n${rules}`)
  const short = await answer('What applies to parodies?', [`Two conditions:\n\n${rules}`, 'a.md'], 'Two conditions:')
  assert.is(short, `“Two conditions:” [1]\n\n${rules}`)
})

test.run()
