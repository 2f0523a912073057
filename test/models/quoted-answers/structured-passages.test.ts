import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerQuestion } from '../../../daemon/models/quoted-answers/answer-question.ts'
import { containsIdentifier, findIdentifiers } from '../../../daemon/models/quoted-answers/question/find-identifiers.ts'
import { createScriptedReader, type Finding } from './scripted-reader.ts'

const test = suite('answers from tables, configuration files and code')

type Passage = [content: string, source: string, headings?: string[]]

/** Answers with a reader that points at the given words of each passage, or at nothing. */
async function answer(text: string, passages: Passage[], findings: (Finding | string | undefined)[]) {
  const given = passages.map(([content, source, headings = [source]]) => ({ content, source, page: 1, headings }))
  const reader = createScriptedReader((read) => {
    const finding = findings[given.findIndex(({ content }) => read.endsWith(content))]
    return typeof finding === 'string' ? { answer: finding } : finding
  })
  return (await answerQuestion(reader, { text, passages: given })).text
}

const formatRelease = (version: string, codename: string, release: string) =>
  `version: ${version}\ncodename: ${codename}\nrelease: ${release}`
const releases = [
  formatRelease('7.10', 'Gutsy', '2007-10-18'),
  formatRelease('10', 'Buster', '2019-07-06'),
  formatRelease('26.10', 'Stonking', '2026-10-15'),
]
const table = releases.join('\n\n')

test('a record is quoted as a whole, below the value that was asked for', async () => {
  assert.is(
    await answer('What is the codename of 26.10?', [[table, 'releases.csv']], ['Stonking']),
    `**Stonking**\n\n\`\`\`\n${releases[2]}\n\`\`\`\n\n[1]`,
  )
})

test('a labelled line of a note is quoted alone, and its label says what it is about', async () => {
  const note = 'Tariff: Flat L, 24 months\nRoaming: included in the EU. Not included in Switzerland.\nHotline: 0800 330 1000'
  const ask = (question: string, found: string) => answer(question, [[note, 'phone.txt']], [found])
  assert.is(
    await ask('Is roaming in Switzerland included?', 'Not included'),
    '**No**\n\n“Roaming: included in the EU. Not included in Switzerland.” [1]',
  )
  assert.is(await ask('What is the hotline?', '0800 330 1000'), '**0800 330 1000**\n\n“Hotline: 0800 330 1000” [1]')
})

test('the record with the number of the question is quoted, even if the model points at another one', async () => {
  const text = await answer('release of version 10', [[table, 'releases.csv']], ['2007-10-18'])
  assert.match(text, /^\*\*2019-07-06\*\*\n\n```\nversion: 10\ncodename: Buster\n/)
})

test('the record with the name of the question is quoted, also if another file is more certain', async () => {
  const other = table.replace('Buster', 'Karmic')
  const text = await answer(
    'Which version is Buster?',
    [
      [other, 'ubuntu.csv'],
      [table, 'debian.csv'],
    ],
    [{ answer: '26.10', certainty: 12 }, '7.10'],
  )
  assert.match(text, /^\*\*10\*\*\n\n```\nversion: 10\ncodename: Buster\n[^[]*\[2\]$/)
})

test('a question in the plural gets all rows of a short table, unless it names one', async () => {
  const levels = '| Level | Meant for |\n|---|---|\n| info | events |\n| warn | faults |\n| error | failures |'
  assert.is(await answer('List the levels.', [[levels, 'log.md']], ['info']), `${levels}\n\n[1]`)
  const one = '| Level | Meant for |\n|---|---|\n| warn | faults |\n\n[1]'
  assert.is(await answer('What are the uses of level WARN?', [[levels, 'log.md']], ['faults']), one)
})

test('rare words of the question tell records apart', async () => {
  const lamps = 'name: Desk lamp\ncity: Wien\n\nname: Floor lamp\ncity: Graz\n\nname: Desk chair\ncity: Linz'
  assert.match(await answer('Where is the floor lamp?', [[lamps, 'lamps.csv']], ['Wien']), /name: Floor lamp\ncity: Graz/)
})

test('a number that no record has is not answered from another one', async () => {
  assert.match(await answer('Who wrote version 10?', [[table, 'releases.csv']], [{ answer: '2019-07-06', certainty: -2 }]), /version: 10/)
  assert.match(
    await answer('Who wrote version 40?', [[table, 'releases.csv']], [{ answer: '2019-07-06', certainty: -2 }]),
    /^I found no answer/,
  )
})

test('a value of another column than the one asked for is not shown', async () => {
  const text = await answer('codename of 26.10', [[table, 'releases.csv']], [{ answer: '26.10\ncodename' }])
  assert.match(text, /^\*\*Stonking\*\*/)
  const unclear = await answer('What about 26.10?', [[table, 'releases.csv']], ['26.10\ncodename: Stonking\nrelease'])
  assert.match(unclear, /^```\nversion: 26\.10/)
})

test('cells of tables are shown without marks, and rules and headers never', async () => {
  const rows = '| SKU | Price |\n|---|---|\n| BW-101 | 12 € |\n| BW-102 | 15 € |'
  const quote = '| SKU | Price |\n|---|---|\n| BW-102 | 15 € |\n\n[1]'
  assert.is(await answer('What is the price of BW-102?', [[rows, 'a.md', []]], ['15']), `**15 €**\n\n${quote}`)
  assert.is(await answer('price of BW-102', [[rows, 'a.md', []]], ['---|\n| BW-101 | 12']), `**15 €**\n\n${quote}`)
  const bare = 'SKU | Price\n---|---\nBW-101 | 12 €\nBW-102 | 15 €'
  assert.is(
    await answer('What is the price of BW-102?', [[bare, 'a.md', []]], ['15']),
    '**15 €**\n\nSKU | Price\n---|---\nBW-102 | 15 €\n\n[1]',
  )
})

test('identifiers are whole numbers, codes and names', () => {
  assert.equal(findIdentifiers('When was Ubuntu 7.10 released for BW-101? Is maxLength ok?'), ['ubuntu', '7.10', 'bw-101', 'maxlength'])
  for (const text of ['version: 7.10', 'BW-10', '2026-10-15', '100', 'x10']) assert.not(containsIdentifier(text, '10'), text)
  for (const text of ['version: 10', '10.', '(10)', '10 LTS']) assert.ok(containsIdentifier(text, '10'), text)
  assert.ok(containsIdentifier('2023-Feb-16', '2023'))
  assert.ok(containsIdentifier('2023-Feb-16', 'february'), 'months can be abbreviated')
  assert.ok(containsIdentifier('| 3.0.0 | 2020-07-07 |', '3'), 'the major version')
  assert.ok(containsIdentifier('| 3.x | 2020-07-07 |', '3'), 'all of a major version')
  for (const text of ['3.xy', '13.0.0', '0.3.0', '3.12.2020', '3.0']) assert.not(containsIdentifier(text, '3'), text)
  assert.ok(containsIdentifier('debian.csv', 'debian'))
})

const redis = [
  '# Accept connections on the specified port, default is 6379.',
  '# If port 0 is specified Redis will not listen on a socket.',
  'port 6379',
  '',
  '# Close the connection after a client is idle for N seconds.',
  '#',
  '# timeout 0',
].join('\n')

test('a setting is quoted with its comment and its line breaks', async () => {
  const passage: Passage = [redis, 'redis.conf', ['redis.conf', 'NETWORK']]
  assert.is(
    await answer('Which port does Redis listen on?', [passage], ['6379']),
    `**6379**\n\n\`\`\`\n${redis.split('\n').slice(0, 3).join('\n')}\n\`\`\`\n\n[1]`,
  )
  assert.match(await answer('When is an idle connection closed?', [passage], ['timeout 0']), /```\n# Close .*\n#\n# timeout 0\n```/)
})

test('a paragraph of a comment is quoted with the setting below the whole comment', async () => {
  const include = '# Include other files here.\n#\n# Include files can include other files.\n#\n# include /etc/local.conf\n\n# port 80'
  assert.is(
    await answer('How do I include another file?', [[include, 'redis.conf']], ['Include other files']),
    '```\n# Include other files here.\n…\n# include /etc/local.conf\n```\n\n[1]',
  )
})

test('a setting is quoted without the next one', async () => {
  const settings = '# The port of the server.\nport = 80\n# The name of the server.\nname = web'
  assert.match(await answer('Which port does the server use?', [[settings, 'server.ini']], ['80']), /```\n# The port.*\nport = 80\n```/)
})

test('a value is taken from a setting, not from its comment', async () => {
  const cluster = '# Cluster node timeout is the time after which a node is down.\n#\ncluster-node-timeout 15000'
  assert.match(await answer('When is a cluster node down?', [[cluster, 'redis.conf']], ['15000']), /^\*\*15000\*\*\n\n```\n# Cluster/)
})

test('one of several dates of a record is not shown above it, unless the question names its column', async () => {
  const release = 'version: 10\ncodename: Buster\nrelease: 2019-07-06\neol: 2022-09-10'
  assert.match(await answer('Until when is version 10 supported?', [[release, 'releases.csv']], ['2019-07-06']), /^```\nversion: 10/)
  assert.match(await answer('release of version 10', [[release, 'releases.csv']], ['2022-09-10']), /^\*\*2019-07-06\*\*/)
})

test('words of a comment that are no value are not shown above the quote', async () => {
  assert.match(await answer('When does it listen?', [[redis, 'redis.conf']], ['Redis will not listen']), /^```\n# Accept/)
})

test('source code is quoted statement by statement', async () => {
  const code = 'const defaults = {\n  port: 3000\n}\n\nfunction listen(port) {\n  return open(port)\n}'
  assert.is(
    await answer('What is the default port?', [[code, 'server.js']], ['3000']),
    '**3000**\n\n```\nconst defaults = {\n  port: 3000\n}\n```\n\n[1]',
  )
})

test('options in the help of a command are quoted one by one', async () => {
  const help = '-p/--port NUM\n  The port of the server. default: 80.\n-j/--json\n  Print the results as JSON.'
  assert.match(
    await answer('How do I get JSON?', [[help, 'a.md', []]], ['Print the results as JSON']),
    /“-j\/--json Print the results as JSON\.” \[1\]$/,
  )
})

test('the headings of plain text are not part of quotes', async () => {
  for (const heading of ['RETURNS', 'Returns\n=======', 'Returns\n', '2.1. Returns\n']) {
    const text = await answer(
      'How long can I return it?',
      [[`${heading}\nYou can return it within thirty days, with a receipt.`, 'a.txt']],
      ['thirty days'],
    )
    assert.is(text, '**thirty days**\n\n“You can return it within thirty days, with a receipt.” [1]', heading)
  }
})

test('comparing and calculating need a chat model, unless a sentence says it', async () => {
  const rows = 'name: Lamp\nprice: 12\n\nname: Chair\nprice: 80'
  for (const question of [
    'Which is cheaper, the lamp or the chair?',
    'Which product is the most expensive?',
    'What do the products cost on average?',
    'How many products are there?',
    'Was ist billiger, die Lampe oder der Stuhl?',
    'Welches Produkt ist am teuersten?',
    'Was kosten alle Produkte insgesamt?',
  ]) {
    const text = await answer(question, [[rows, 'products.csv']], ['12'])
    assert.match(text, /^Comparing, calculating and summarizing need a chat model\. .*\n\n- products\.csv: “name: /, question)
  }
  const offer = 'The shed costs 3,480 euros. Assembly costs 420 euros extra.'
  assert.match(await answer('What is the total price of the shed with assembly?', [[offer, 'a.md', []]], ['420 euros']), /^Comparing/)
  const sentence = 'The largest file allowed is 20 MB. The total of all files is 80 MB.'
  assert.match(await answer('What is the largest file?', [[sentence, 'a.md', []]], ['20 MB']), /^\*\*20 MB\*\*/)
  assert.match(await answer('How much may all files have in total?', [[sentence, 'a.md', []]], ['80 MB']), /^\*\*80 MB\*\*/)
  assert.match(
    await answer('How many Lamp products are in stock?', [[rows.replace('price: 12', 'stock: 12'), 'products.csv']], ['12']),
    /^\*\*12\*\*/,
  )
})

test('the closest passages are ordered by relevance, without repetitions and bare table heads', async () => {
  const text = await answer(
    'Why did the king paint his lamp with blue letters?',
    [
      ['Doors with letters open at nine.', 'doors.md', []],
      ['The king had blue paint in March.', 'king.md', []],
      ['Unrelated words are here.', 'other.md', []],
      ['| Name | Room |\n|---|---|', 'rooms.md', []],
      ['The lamp is allowed in all rooms.', 'lamp.md', []],
      ['The lamp is allowed in all rooms.', 'copy.md', []],
      ['9.3.', 'law.md', []],
    ],
    [undefined, { answer: 'blue paint', certainty: -6 }],
  )
  assert.is(
    text,
    [
      'I found no answer in 7 documents. The closest passages:\n',
      '- king.md: “The king had blue paint in March.” [2]',
      '- doors.md: “Doors with letters open at nine.” [1]',
      '- lamp.md: “The lamp is allowed in all rooms.” [5]',
    ].join('\n'),
  )
})

test('a sentence answers "how many" rather than a row that is almost as good', async () => {
  const table = '| Code | Meaning |\n|---|---|\n| `LIMITED` | more than 60 requests a minute |'
  const sentence = 'The limit is 100 requests a minute.'
  const passages: Passage[] = [
    [table, 'errors.md', []],
    [sentence, 'limits.md', []],
  ]
  const findings = [
    { answer: '60 requests', certainty: 7 },
    { answer: '100 requests', certainty: 6 },
  ]
  assert.match(await answer('How many requests a minute are allowed?', passages, findings), /^\*\*100 requests\*\*\n/)
})

test('a row with few words of the question is not counted', async () => {
  const table = '| Size | Cores |\n|---|---|\n| up to 100 people | 2 |'
  const text = await answer('How many people live in Paris?', [[table, 'sizes.md', []]], [undefined])
  assert.match(text, /^I found no answer in 1 document/)
})

test('a passage in another language is only quoted if it shares the words of the question', async () => {
  const german = 'Der Betrieb ist für alle offen und die Tür wird von dem Wart mit einem Schlüssel geöffnet.'
  const text = await answer('How long is the notice period?', [[german, 'a.md', []]], [{ answer: 'Schlüssel', certainty: 9 }])
  assert.match(text, /^I found no answer in 1 document/)
})

test('the name of the file is context, but never an answer', async () => {
  const text = await answer('Which port does it use?', [['port 6379', 'redis.conf']], ['redis.conf'])
  assert.not.match(text, /\*\*redis\.conf\*\*|“redis\.conf/)
  assert.match(await answer('cache ttl', [['cache:\n  ttl: 300\n  size: 64mb', 'app.yaml']], ['ttl: 300\n  size']), /^\*\*300\*\*\n/)
})

const MAIL = [
  '# Invoice K-12',
  'From: Ana <ana@a.example>\nTo: accounts@b.example\nDate: Monday, 2 March 2026',
  'Dear Mr Kran,',
  'we paid invoice K-12.',
].join('\n\n')

test('the header of a mail answers only who wrote it, and when', async () => {
  const ask = (text: string, words: string) => answer(text, [[MAIL, 'a.eml']], [{ answer: words, alternative: 'Monday' }])
  assert.match(await ask('When did Ana write about the invoice?', 'Monday, 2 March 2026'), /From: Ana/)
  const text = await ask('What is the number of the invoice?', 'K-12')
  assert.match(text, /“we paid invoice K-12.” \[1\]$/, 'a heading is quoted with the first sentence of the text')
  assert.not.match(text, /From:|Dear/)
})

test('how to do something is answered with the example below the paragraph of the answer', async () => {
  const [paragraph, code] = ['Use the land command to land a change. Problems go to the warden.', '```sh\ngit land 42\n```']
  const ask = (text: string, between: string) => answer(text, [[`${paragraph}\n\n${between}${code}\n\nDone.`, 'a.md']], ['land command'])
  assert.ok((await ask('How do I land my work?', 'Quick example:\n\n')).endsWith(`“Use the land command to land a change.” [1]\n\n${code}`))
  assert.ok((await ask('how to land my work', '')).endsWith(code))
  assert.not.match(await ask('What lands my work?', 'Quick example:\n\n'), /git land 42/)
  assert.not.match(await ask('How do I land my work?', 'It may rain.\n\n'), /git land 42/)
})

test.run()
