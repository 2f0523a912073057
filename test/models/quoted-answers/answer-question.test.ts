import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { createScriptedReader, type Finding } from './scripted-reader.ts'

const test = suite('answers of the embedded model')

const createPassage = (content: string, source = 'a.md', headings: string[] = []) => ({ content, source, page: 1, headings })

/** Answers with a reader that finds the given answer in each passage, or nothing. */
async function answer(passages: Parameters<typeof createPassage>[], findings: (string | Finding | undefined)[], text = 'How?') {
  const given = passages.map((passage) => createPassage(...passage))
  const reader = createScriptedReader((read) => {
    const finding = findings[given.findIndex(({ content }) => read.endsWith(content))]
    return typeof finding === 'string' ? { answer: finding } : finding
  })
  return (await answerQuestion(reader, { text, passages: given })).text
}

test('a short answer comes first, then the sentence that contains it, with its citation', async () => {
  assert.is(
    await answer([['The shop opens at nine. Leave is thirty days a year for everyone.']], ['thirty days']),
    '**thirty days**\n\n“Leave is thirty days a year for everyone.” [1]',
  )
})

test('a sentence does not end in a link whose text ends with a question mark and quotation marks', async () => {
  assert.is(
    await answer([['The shop opens at nine. Read ["Who may apply?"](apply.md) within thirty days of the notice.']], ['thirty days']),
    '**thirty days**\n\n“Read "Who may apply?" within thirty days of the notice.” [1]',
  )
})

test('the answer below a heading that is a question is quoted as a whole, unless it is long', async () => {
  const [first, second] = ['Only if the page says so.', 'Lamps with LED have no bulb.']
  assert.match(await answer([[`### Are bulbs included?\n\n${first} ${second}`]], ['no bulb']), /“Only if the page says so. Lamps with LED/)
  assert.match(await answer([[`${first} ${second}`, 'a.md', ['Are bulbs included?']]], ['no bulb']), /“Only if the page says so. Lamps/)
  assert.match(await answer([[`### Bulbs\n\n${first} ${second}`]], ['no bulb']), /“Lamps with LED have no bulb.” \[1\]$/)
  assert.match(
    await answer([[`### Why?\n\n${first} ${'It is so. '.repeat(40)}${second}`]], ['no bulb']),
    /“Lamps with LED have no bulb.” \[1\]$/,
  )
})

test('two neighbouring sentences are quoted together if the model is undecided between them', async () => {
  const undecided = { answer: 'thirty days', alternative: 'five more' }
  assert.is(
    await answer([['It rains. Leave is thirty days a year for everyone. Elders get five more days. It snows.']], [undecided]),
    '**thirty days**\n\n“Leave is thirty days a year for everyone. Elders get five more days.” [1]',
  )
  assert.is(
    await answer([['Leave is thirty days a year for everyone.\n\nElders get five more days.']], [undecided]),
    '**thirty days**\n\n“Leave is thirty days a year for everyone.” [1]',
  )
})

test('a question for yes or no is answered by the whole sentence, and by yes or no if it settles the question', async () => {
  const sentence = 'Everyone may use the hall after nine, if the warden agrees to it.'
  assert.is(await answer([[sentence]], ['after nine'], 'Can I use the hall?'), `**It depends**\n\n“${sentence}” [1]`)
  assert.is(await answer([[sentence]], ['after nine'], 'Is the hall heated?'), `“${sentence}” [1]`)
  assert.is(await answer([[sentence]], ['after nine'], 'When can I use the hall?'), `**after nine**\n\n“${sentence}” [1]`)
})

test('words after a negation are not shown without it', async () => {
  const sentence = 'No person may be elected more than twice, whatever the others say.'
  assert.is(await answer([[sentence]], ['more than twice']), `“${sentence}” [1]`)
  assert.match(await answer([['Reply no later than nine days after the notice, please.']], ['nine days']), /^\*\*nine days\*\*/)
  assert.match(await answer([['If you do not agree, the fee is nine crowns for each day.']], ['nine crowns']), /^\*\*nine crowns\*\*/)
})

test('an answer that is most of the sentence is not repeated', async () => {
  assert.is(await answer([['Ask the warden.']], ['Ask the warden']), '“Ask the warden.” [1]')
})

test('an answer is extended to whole words and whole inline code', async () => {
  assert.is(
    await answer([['To limit it, set `server.bodyLimit` in the options of the server.']], ['bodyLimit']),
    '**server.bodyLimit**\n\n“To limit it, set server.bodyLimit in the options of the server.” [1]',
  )
  assert.match(await answer([['The fee is 30% of the price, paid at the end of the month.']], ['30']), /^\*\*30%\*\*\n/)
  assert.match(await answer([['Run it with --no-cache (twice) and then look at the result.']], ['no']), /^\*\*--no-cache\*\*\n/)
})

test('code is quoted as a whole, with the sentence above it', async () => {
  const code = '```sh\nnpm ci\nnpm start\n```'
  assert.is(
    await answer([[`Some words.\n\nInstall it and start it:\n\n${code}\n\nDone.`]], [{ answer: 'npm start', certainty: 4 }]),
    `Probably: “Install it and start it:” [1]\n\n${code}`,
  )
})

test('a sentence that announces a list, a table or code is quoted with it', async () => {
  const list = '- oil\n- a match'
  assert.is(await answer([[`To light the lamp you need:\n\n${list}\n\nGo.`]], ['the lamp']), `“To light the lamp you need:” [1]\n\n${list}`)
})

test('a sentence that announces what no passage contains is not quoted if there is another answer', async () => {
  const text = await answer(
    [['But this will not work:'], ['Use the other key instead of this one, please.', 'b.md']],
    ['this will not', { answer: 'the other key', certainty: 9 }],
  )
  assert.is(text, '**the other key**\n\n“Use the other key instead of this one, please.” [2]')
})

test('an answer of several items is quoted as a list', async () => {
  assert.is(
    await answer([['You need:\n\n- oil\n- a match\n- patience']], ['oil\n- a match\n- patience']),
    '“You need:” [1]\n\n- oil\n- a match\n- patience',
  )
})

test('a table row is quoted with the header of its table', async () => {
  const content = '| Option | Default |\n|---|---|\n| `port` | 3000 |\n| `host` | localhost |'
  assert.is(await answer([[content]], ['localhost']), '**localhost**\n\n| Option | Default |\n|---|---|\n| `host` | localhost |\n\n[1]')
})

test('an answer in the headings is quoted with the first sentence below', async () => {
  assert.is(
    await answer(
      [['Default: `false`. Turns off the log lines of requests.', 'a.md', ['Server', 'disableRequestLogging']]],
      ['disableRequestLogging'],
    ),
    '**disableRequestLogging**\n\n“Default: false. Turns off the log lines of requests.” [1]',
  )
  assert.match(
    await answer([['## `bodyLimit`\n\nThe largest body that is accepted by it.']], ['bodyLimit']),
    /^\*\*bodyLimit\*\*\n\n“The largest body/,
  )
})

test('HTML tags and Markdown syntax are not quoted', async () => {
  assert.is(
    await answer([['<a id="limit"></a>The **limit** is [one megabyte](limit.md) for each request.']], ['one megabyte']),
    '**one megabyte**\n\n“The limit is one megabyte for each request.” [1]',
  )
})

test('numbers in brackets in a document are escaped, so that they are not citations', async () => {
  assert.is(await answer([['The limit is ten[1] for now.']], ['ten']), '**ten[\u20601]**\n\n“The limit is ten[\u20601] for now.” [1]')
  const table = '| Limit | Source |\n|---|---|\n| ten | [1] |'
  assert.is(await answer([[table]], ['ten']), `**ten**\n\n${table.replace('[1]', '[\u20601]')}\n\n[1]`)
})

test('two documents that give different numbers are both quoted', async () => {
  const text = await answer(
    [
      ['Everyone has 30 days of leave in each year.', 'new.md'],
      ['Everyone has 25 days of leave in each year.', 'old.md'],
    ],
    ['30 days', '25 days'],
  )
  assert.match(text, /^Your documents give different answers\./)
  assert.match(text, /\*\*30 days\*\*\n\n“Everyone has 30 days of leave in each year\.” \[1\]/)
  assert.match(text, /\*\*25 days\*\*\n\n“Everyone has 25 days of leave in each year\.” \[2\]/)
})

test('two documents that give the same number are quoted once', async () => {
  const text = await answer(
    [
      ['Everyone has 30 days of leave.', 'new.md'],
      ['We get 30 days off.', 'old.md'],
    ],
    ['30 days', '30 days'],
  )
  assert.not.match(text, /different|\[2\]/)
})

test('without an answer, the closest passages are listed', async () => {
  const passages = [
    createPassage('# Leave\n\nLeave is asked for in writing.', 'leave.md', ['Leave']),
    createPassage('Doors open at nine.', 'doors.md'),
  ]
  const { text } = await answerQuestion(
    createScriptedReader(() => undefined),
    { text: 'Who is the king?', passages, countDocuments: async () => ({ documents: 12, recognizing: 0, skipped: 0 }) },
  )
  assert.is(
    text,
    'I found no answer in 12 documents. The closest passages:\n\n' +
      '- Leave: “Leave is asked for in writing.” [1]\n- doors.md: “Doors open at nine.” [2]',
  )
})

test('the closest passages keep code as it is written', async () => {
  const passages = [
    createPassage('def __init__(self, *args): self._size = 2 * args[0] * 3', 'stack.py'),
    createPassage('Call `reset_all()` in __exit__ to **empty** the stack.', 'stack.md'),
    createPassage(`Set \`${'long_name '.repeat(30)}\` first.`, 'long.md'),
  ]
  const { text } = await answerQuestion(
    createScriptedReader(() => undefined),
    { text: 'Who is the king?', passages, countDocuments: async () => ({ documents: 3, recognizing: 0, skipped: 0 }) },
  )
  const lines = text.replaceAll('\u2060', '').split('\n')
  const [python, markdown, long = ''] = ['[1]', '[2]', '[3]'].map((number) => lines.find((each) => each.endsWith(number)))
  assert.is(python, '- stack.py: “`def __init__(self, *args): self._size = 2 * args[0] * 3`” [1]')
  assert.is(markdown, '- stack.md: “Call `reset_all()` in `__exit__` to empty the stack.” [2]')
  assert.match(long, /: “Set `long_name .* long_name` …” \[3\]$/)
})

test('without passages, the number of documents is reported', async () => {
  const reader = createScriptedReader(() => undefined)
  const refuse = async (documents: number, recognizing: number, skipped: number) =>
    (await answerQuestion(reader, { text: 'Who?', passages: [], countDocuments: async () => ({ documents, recognizing, skipped }) })).text
  assert.is(await refuse(1, 0, 0), 'I found no answer in 1 document.')
  assert.is(await refuse(11, 0, 14), 'I found no answer in 11 documents (14 files were skipped).')
  assert.is(await refuse(3, 2, 1), 'I found no answer in 3 documents (2 scans are still being recognised; 1 file was skipped).')
  assert.is((await answerQuestion(reader, { text: 'Who?', passages: [] })).text, 'I found no answer in your documents.')
})

test('comparisons and summaries name the way to a chat model', async () => {
  for (const question of [
    'Compare the two plans',
    'Summarize the handbook',
    'What is the difference between a and b?',
    'plan a vs plan b',
  ]) {
    const text = await answer([['Plan A costs ten.'], ['Plan B costs twenty.', 'b.md']], ['ten', 'twenty'], question)
    assert.match(text, /^Comparing, calculating and summarizing need a chat model\. To add one, run cadre models discover --add\./)
    assert.match(text, /“Plan A costs ten\.” \[1\]/)
  }
})

test('questions in other scripts are answered by their words', async () => {
  const passages = [createPassage('灯塔建于1901年。灯塔有三十米高。')]
  const reader = createScriptedReader(() => undefined)
  assert.match((await answerQuestion(reader, { text: '灯塔有多少米高？', passages })).text, /^Probably: “灯塔有三十米高。” \[1\]/)
  assert.equal(reader.questions, [])
})

test('a name in the heading is shown with a quote that does not repeat it', async () => {
  assert.is(
    await answer(
      [['## hasPlugin\n\nReturns whether a plugin with that name was registered.', 'a.md', ['Server', 'hasPlugin']]],
      ['whether'],
    ),
    '**whether**\n\nhasPlugin: “Returns whether a plugin with that name was registered.” [1]',
  )
})

test('an answer that only repeats the question is not shown', async () => {
  const question = 'What is the limit of the body?'
  const text = await answer([['Read the [limit of the body](limit.md). A body has at most one megabyte.']], ['limit of the body'], question)
  assert.not.match(text, /^\*\*limit/)
})

test('an answer in another Latin language has no short answer', async () => {
  assert.is(
    await answer([['Jeder hat 28 Tage bezahlten Urlaub im Jahr.']], ['im Jahr'], 'Wie viele Tage Urlaub habe ich?'),
    '“Jeder hat 28 Tage bezahlten Urlaub im Jahr.” [1]',
  )
})

test('comments of configuration files are read as text, and headings above each other as headings', async () => {
  const comment = '# The port of the server.\n# It must be free on this machine.\nport 6379'
  assert.match(await answer([[comment]], ['free']), /It must be free on this machine\./)
  const refusal = await answer([['# Handbook\n\n## Leave\n\nLeave is thirty days.', 'a.md', ['Handbook']]], [undefined])
  assert.match(refusal, /- Handbook: “Leave is thirty days\.” \[1\]/)
})

test('a passage is read with the question in its own words', async () => {
  const passages = [createPassage('Everyone has 30 days of leave.'), createPassage('The holiday house is closed.', 'b.md')]
  const reader = createScriptedReader(() => undefined)
  await answerQuestion(reader, { text: 'How much holiday do we get?', passages })
  assert.equal(reader.questions.sort(), ['How much holiday do we get?', 'How much leave do we get?'])
})

test('a word with other meanings is not replaced by a synonym', async () => {
  const reader = createScriptedReader(() => undefined)
  await answerQuestion(reader, { text: 'Who pays for the lamp?', passages: [createPassage('The salary of the warden is low.')] })
  assert.equal(reader.questions, ['Who pays for the lamp?'])
})

test('a sentence without end is cut around the answer', async () => {
  const text = await answer([[`${'word '.repeat(2_000)}the key is green ${'word '.repeat(2_000)}`]], ['green'])
  assert.ok(text.length < 1_000)
  assert.match(text, /^\*\*green\*\*\n\n“… .*the key is green .* …” \[1\]$/)
})

test('a long question about long passages of many short parts is answered', async () => {
  const characters = Array.from({ length: 10_000 }, (_, index) => String.fromCodePoint(0x4e00 + index))
  const parts = ['|\n', '- a\n', '# a\n\n', '# a\n\nb\n\n', 'One two. ', 'Leave, 1th; ', '```\n']
  const contents = [...parts.map((part) => part.repeat(20_000 / part.length)), characters.join('').replaceAll(/../gu, '$&。')]
  const passages = contents.map((content, index) => createPassage(`${content}\n\nThe end.`, `${index}.md`))
  const reader = createScriptedReader(() => undefined)
  for (const text of [
    characters.map((_, index) => `${index}th`).join(' '),
    'holiday password invoice laptop travel '.repeat(250),
    characters.join(''),
  ]) {
    await answerQuestion(reader, { text: text.slice(0, 10_000), passages })
  }
})

test.run()
