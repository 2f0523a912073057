import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { NeighbouringPassage } from '../../../daemon/core/tool.ts'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { asksForList } from '../../../daemon/models/quoted-answers/question/detect-question-type.ts'
import { createScriptedReader } from './scripted-reader.ts'

const test = suite('lists')

/** Asks about a passage in which the reader finds the words. */
async function ask(
  text: string,
  content: string,
  words: string,
  headings: string[] = [],
  after: NeighbouringPassage[] = [],
  before: NeighbouringPassage[] = [],
) {
  const reader = createScriptedReader(() => ({ answer: words }))
  const passages = [{ content, source: 'a.md', page: 1, headings }]
  return (await answerQuestion(reader, { text, passages, listNeighbours: async () => ({ before, after }) })).text
}

const FRUIT = '“We sell these fruits:” [1] (3 items)\n\n- apples\n- pears\n- plums'

test('a question in the plural gets the whole list, whichever item was found', async () => {
  const content = 'It rains.\n\nWe sell these fruits:\n\n- apples\n- pears\n- plums\n\nThe shop is closed.'
  assert.is(await ask('Which fruits do you sell?', content, 'pears'), FRUIT)
  assert.is(await ask('What are the fruits?', content, 'We sell these fruits:'), FRUIT)
})

test('the steps below a heading that names the action in another form are quoted', async () => {
  const content = '## Deployment\n\n1. Build it.\n2. Copy it.\n3. Start it.'
  assert.is(
    await ask('What are the steps to deploy an app?', content, 'Build it.'),
    '“Deployment” [1] (3 items)\n\n1. Build it.\n2. Copy it.\n3. Start it.',
  )
})

test('a list whose items begin as the question says is quoted below a sentence that does not announce it', async () => {
  const items = '- `--keep-last N` keeps the last ones.\n- `--keep-tag NAME` keeps those with a tag.'
  const content = `Removes copies. It needs at least one of the \`--keep-*\` options.\n\n${items}\n\nIt frees no space.`
  assert.is(
    await ask('Which --keep options are there?', content, 'at least one', ['prune']),
    `“It needs at least one of the --keep-* options.” [1] (2 items)\n\n${items}`,
  )
})

test('a list that begins in the next passage is quoted with its items', async () => {
  const following = [
    { content: '- apples\n- pears', headings: ['Shop'], gap: 1 },
    { content: '- plums\n\nThe shop is closed.', headings: ['Shop'], gap: 1 },
    { content: '- cheese', headings: ['Shop'], gap: 1 },
  ]
  assert.is(await ask('List all fruits', 'It rains. We sell these fruits:', 'We sell these fruits:', ['Shop'], following), FRUIT)
})

test('a list that the ends of passages cut in the middle of items is quoted as a whole', async () => {
  const following = [
    { content: ' They are red.\n- pears', headings: ['Shop'], gap: 0 },
    { content: ' and quinces\n- plums\n\nThe shop is closed.\n\n- cheese', headings: ['Shop'], gap: 0 },
  ]
  const text = await ask('What are our fruits?', 'Fruits:\n- apples.', 'Fruits:', ['Shop'], following)
  assert.is(text, '“Fruits:” [1] (3 items)\n\n- apples. They are red.\n- pears and quinces\n- plums')
})

test('a list that begins in the passages before is quoted from its beginning', async () => {
  const before = [
    { content: 'It rains.', headings: ['Weather'], gap: 2 },
    { content: 'We sell these fruits:\n\n- apples', headings: ['Shop'], gap: 1 },
  ]
  assert.is(await ask('List all fruits', '- pears\n- plums', 'plums', ['Shop'], [], before), FRUIT)
})

test('a question for how to do something gets all steps below a heading that it names', async () => {
  const steps = '1. Close the door.\n2. Press Start.\n\n   ```sh\n   start --now\n   ```\n3. Write down the time.'
  const content = `Never leave it alone.\n\n## Starting the kiln\n\n${steps}\n\nIt takes an hour.`
  assert.is(await ask('How do I start the kiln?', content, 'Press Start'), `“Starting the kiln” [1] (3 items)\n\n${steps}`)
  assert.match(await ask('When is the time written down?', content, 'the time'), /“Write down the time.” \[1\]$/)
  const others = content.replaceAll(/^\d\./gm, '-').replace('   ```sh\n   start --now\n   ```\n', '')
  assert.match(await ask('How do I start the kiln?', others, 'Press Start'), /“Press Start.” \[1\]$/)
})

test('the numbers of a list go on below code and paragraphs that are not indented', async () => {
  const [install, start] = ['1. Install it:\n\n```sh\nnpm install\n```', '2. Start it.']
  const text = await ask('How do I set it up?', `To set it up:\n\n${install}\n\n${start}`, 'Start it')
  assert.is(text, `“To set it up:” [1] (2 items)\n\n${install}\n${start}`)
})

test('a question for the options of a command gets those below its heading', async () => {
  const options = '- `--level N`: From 1 to 9.\n- `--timeout S`: 30 by default.'
  const content = `## pack\n\nPacks.\n\n${options}\n\n## unpack\n\n- \`--timeout S\`: 120 by default.\n- \`--owner\`: Keeps it.`
  assert.is(await ask('What are the options of pack?', content, '120', ['Manual']), `“pack” [1] (2 items)\n\n${options}`)
  assert.match(await ask('What is the timeout of unpack?', content, '120', ['Manual']), /unpack: “--timeout S: 120 by default.” \[1\]$/)
})

test('options are those of the command that is named, and only if nothing else is asked', async () => {
  const describe = (names: string) =>
    names
      .split(' ')
      .map((name) => `- \`--${name}\`: It is ${name}.`)
      .join('\n')
  const commands = { docker: 'debug host', 'docker compose up': 'detach build', 'Options of pull': 'all tags' }
  const content = Object.entries(commands)
    .map(([name, options]) => `## ${name}\n\n${describe(options)}`)
    .join('\n\n')
  const lead = '“docker compose up” [1] (2 items)'
  assert.is(await ask('What are the options of docker compose up?', content, 'debug'), `${lead}\n\n${describe('detach build')}`)
  assert.match(await ask('Which options of pull are there?', content, 'debug'), /^“Options of pull” \[1\] \(2 items\)/)
  const other = `${content}\n\n## Systems\n\nOn Windows, the option host is not supported.`
  assert.match(
    await ask('Which options of docker are not supported on Windows?', other, 'host is not'),
    /“On Windows, the option host is not/,
  )
  const described = '## pack\n\n- `--level N`\n\n  From 1 to 9.\n\n- `--quiet`\n\n  Says nothing.'
  assert.match(
    await ask('List the options of pack', described, 'quiet'),
    /`--level N`\n\n {2}From 1 to 9\.\n- `--quiet`\n\n {2}Says nothing\.$/,
  )
})

test('the only list of a section is quoted if its heading names the items or the steps, whatever the sentence says', async () => {
  const fees = '- Adults: 240 euros\n- Children: 60 euros'
  const content = `## Membership fees\n\nThey are due on 15 April and are collected.\n\n${fees}\n\n## Rooms\n\n- red`
  assert.is(await ask('What are the membership fees?', content, 'due on 15 April'), `“Membership fees” [1] (2 items)\n\n${fees}`)
  const steps = '1. Open the valve.\n2. Fill it.\n\n   > **Warning:** It is toxic.\n\n3. Close it.'
  const bleeding = `## Bleeding the brake\n\nFollow the steps carefully, one after another.\n\n${steps}`
  const quoted = `“Bleeding the brake” [1] (3 items)\n\n${steps.replace('.\n\n3', '.\n3')}`
  assert.is(await ask('What are the steps to bleed the brake?', bleeding, 'Follow the steps'), quoted)
  assert.is(await ask('How do I bleed the brake?', bleeding, 'Open the valve.\n2. Fill it'), quoted)
})

test('steps of something else are not quoted', async () => {
  const content = '## Starting the kiln\n\n1. Close the door.\n2. Press the button.\n3. Go away.'
  assert.match(await ask('How do I stop the kiln?', content, 'Press the button'), /“Press the button\.” \[1\]$/)
  assert.match(await ask('How do I start the kiln?', content, 'Press the button'), /^“Starting the kiln” \[1\] \(3 items\)/)
})

test('a step is quoted with all others, unless their heading says that they do something else', async () => {
  const steps = '1. Set the mode.\n2. Start the server.'
  const quoted = `“Going live” [1] (2 items)\n\n${steps}`
  assert.is(await ask('How do I put it into production?', `## Going live\n\n${steps}`, 'Set the mode'), quoted)
  assert.is(await ask('I have an app, how do I take it to production?', `## Going live\n\n${steps}`, 'Start the server'), quoted)
  assert.not.match(await ask('What is set first?', `## Going live\n\n${steps}`, 'Set the mode'), /items/)
})

test('steps below a heading that says what was asked for are quoted, whatever the reader finds', async () => {
  const steps = '1. Pull the plug.\n2. Turn the filter.'
  const content = `A dirty filter shows E20: clean it.\n\n## Cleaning the filter\n\nDo it often.\n\n${steps}`
  const quoted = `“Cleaning the filter” [1] (2 items)\n\n${steps}`
  assert.is(await ask('How to clean the filter?', content, 'clean it'), quoted)
  assert.is(await ask('Steps to clean the filter?', content, 'clean it'), quoted)
  assert.not.match(await ask('How do I clean the filter after a flood?', content, 'clean it'), /items/)
  assert.not.match(await ask('How often do I clean the filter?', content, 'Do it often'), /items/)
})

test('a list that is announced in the words of the question is quoted, whatever the reader finds', async () => {
  const items = '- `paths`: required\n- `censor`: optional'
  const content = `Set \`redact\` to an object.\n\nIf an object is supplied, two options can be specified:\n\n${items}`
  const quoted = `“If an object is supplied, two options can be specified:” [1] (2 items)\n\n${items}`
  assert.is(await ask('What options can the redact object have?', content, 'Set `redact`', ['redact']), quoted)
  assert.not.match(await ask('What options can the redact array have?', content, 'Set `redact`', ['redact']), /items/)
  assert.not.match(await ask('What do options need?', content, 'Set `redact`', ['redact']), /items/)
  const allowed = 'Knives are not allowed.\n\nThese items are allowed:\n\n- bags\n- coats'
  assert.not.match(await ask('Which items are not allowed?', allowed, 'Knives'), /bags/)
  const files = 'Administrators can delete all files.\n\nUsers can delete these files:\n\n- drafts\n- copies'
  assert.not.match(await ask('Which users can delete files?', files, 'Administrators'), /drafts/)
  const documents = 'Bring a passport.\n\nYou need these documents if you are self-employed:\n\n- a letter\n- a bill'
  assert.not.match(await ask('Which documents do I need?', documents, 'a passport'), /a bill/)
})

test('steps for another case are not quoted', async () => {
  const content = '## Install the app with Docker\n\n1. Pull it.\n2. Run it.\n\n## Other systems\n\nOn Windows, run the setup.'
  assert.not.match(await ask('How do I install the app on Windows?', content, 'run the setup'), /items/)
  assert.not.match(await ask('How do I install the app without Docker?', content, 'run the setup'), /items/)
  assert.match(await ask('How do I install the app with Docker?', content, 'run the setup'), /\(2 items\)/)
})

test('a list that is longer than what is read has at least so many items', async () => {
  const after = Array.from({ length: 60 }, () => ({ content: '- a\n'.repeat(1_000).trimEnd(), headings: ['Shop'], gap: 1 }))
  const text = await ask('Which fruits do you sell?', 'Fruits:\n\n- pear\n- a', 'pear', ['Shop'], after)
  assert.match(text, /^“Fruits:” \[1\] \(at least 4002 items\)/)
})

test('code of items is quoted as it is', async () => {
  const code = '   ~~~sh\n   rm file[0-9].txt\n   npm start\n   ~~~'
  const text = await ask('How do I clean up?', `To clean up:\n\n1. Run this:\n\n${code}\n2. Wait [3] days.`, 'Wait')
  assert.is(text, `“To clean up:” [1] (2 items)\n\n1. Run this:\n\n${code}\n2. Wait [\u20603] days.`)
})

test('a table below the paragraph of the answer is quoted', async () => {
  const table = '| Fruit | Price |\n|---|---|\n| apples | 2 |\n| pears | 3 |'
  const text = await ask('Which fruits do you sell?', `We sell two fruits of the region. All are fresh.\n\n${table}`, 'two fruits')
  assert.is(text, `“We sell two fruits of the region.” [1]\n\n${table}`)
})

test('the list below the paragraph of the answer is quoted, also if another sentence announces it, or none does', async () => {
  const items = '- apples\n- pears\n- plums'
  const announced = await ask('What are the fruits?', `It rains. We sell three fruits. They are these:\n\n${items}`, 'three fruits')
  assert.is(announced, `“We sell three fruits. They are these:” [1] (3 items)\n\n${items}`)
  const rain = 'The rain falls on all of them. '.repeat(10)
  const long = await ask('What are the fruits?', `We sell three fruits. ${rain}They are these:\n\n${items}`, 'three fruits')
  assert.is(long, `“We sell three fruits. … They are these:” [1] (3 items)\n\n${items}`)
  assert.is(await ask('What are the fruits?', `We sell these\n\n${items}`, 'We sell these'), `“We sell these” [1] (3 items)\n\n${items}`)
  const other = await ask('What are the fruits?', `We sell three fruits. It rains.\n\n${items}`, 'three fruits')
  assert.is(other, '“We sell three fruits. It rains.” [1]')
  const complete = await ask(
    'What are the fruits?',
    `We sell apples and pears.\n\n- Dogs are allowed.\n- Cats are not.`,
    'apples and pears',
  )
  assert.is(complete, '“We sell apples and pears.” [1]')
  const indented = await ask('What are the fruits?', `It rains.\n\n  We sell fruits:\n\n  - apples\n  - pears`, 'pears')
  assert.is(indented, '“We sell fruits:” [1] (2 items)\n\n- apples\n- pears')
})

test('items with further paragraphs are one list', async () => {
  const content = 'Fruits:\n\n- apples\n\n  They are red.\n\n- pears\n\n  They are green.\n\nCheese comes in wheels.\n\n- Gouda'
  assert.is(
    await ask('What are our fruits?', content, 'Fruits'),
    '“Fruits:” [1] (2 items)\n\n- apples\n\n  They are red.\n- pears\n\n  They are green.',
  )
})

test('the items can be the headings below', async () => {
  const following = [
    { content: 'They are red.', headings: ['Shop', 'Fruits', 'Apples'], gap: 1 },
    { content: 'Sour ones.', headings: ['Shop', 'Fruits', 'Apples', 'Green'], gap: 1 },
    { content: 'They are yellow.', headings: ['Shop', 'Fruits', 'Pears'], gap: 1 },
    { content: 'Gouda.', headings: ['Shop', 'Cheese'], gap: 1 },
  ]
  const text = await ask('List all fruits', 'They come from the region.', 'the region', ['Shop', 'Fruits'], following)
  assert.is(text, '“Fruits” [1] (2 items)\n\n- Apples\n- Pears')
})

test('of a list that is announced, all items are quoted if the answer has several of them, unless it is long', async () => {
  const list = '- The lamp is green.\n- The cable is dry.\n- Nobody is inside.'
  const words = 'The lamp is green.\n- The cable is dry'
  assert.is(await ask('How?', `The lift is ready when:\n\n${list}\n\nGo.`, words), `“The lift is ready when:” [1]\n\n${list}`)
  assert.is(
    await ask('How?', `The lift is ready when:\n\n${list}\n${'- One more thing.\n'.repeat(20)}\nGo.`, words),
    `“The lift is ready when:” [1]\n\n- ${words}.`,
  )
})

test('headings below one that does not name the items are no list', async () => {
  const following = [
    { content: 'Use it.', headings: ['Fruit press', 'Usage'], gap: 1 },
    { content: 'Clean it.', headings: ['Fruit press', 'Cleaning'], gap: 1 },
  ]
  const text = await ask('Which fruits can be pressed?', 'Apples and pears can be pressed.', 'Apples and pears', ['Fruit press'], following)
  assert.is(text, '“Apples and pears can be pressed.” [1]')
})

test('at most 20 items are shown, with the number of all', async () => {
  const items = Array.from({ length: 34 }, (_, index) => `- fruit ${index + 1}`).join('\n')
  const text = await ask('List all fruits', `We sell:\n\n${items}`, 'fruit 3')
  assert.match(text, /^“We sell:” \[1\] \(34 items\)\n\n- fruit 1\n/)
  assert.match(text, /- fruit 20\n- … and 14 more$/)
})

test('a question in the singular does not get a list', async () => {
  const content = 'We sell these fruits:\n\n- apples are red and come from here\n- pears are yellow and come from far away'
  assert.match(await ask('Where do pears come from?', content, 'far away'), /^\*\*far away\*\*\n\n“We sell these fruits: … pears are/)
})

test('questions in the plural are detected', () => {
  for (const question of [
    'List all internal systems',
    'What are the five job levels?',
    'Which states have an office?',
    'Which Node.js versions does it run on?',
    'Name the hooks',
  ])
    assert.ok(asksForList(question), question)
  for (const question of ['What is the limit?', 'Which class is it?', 'Which process does it use?', 'What does it cost?', 'Who are you?'])
    assert.not(asksForList(question), question)
})

test.run()
