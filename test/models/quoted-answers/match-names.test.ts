import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { matchRecords } from '../../../daemon/models/quoted-answers/candidates/match-records.ts'
import { parseBlocks, parseParts } from '../../../daemon/models/quoted-answers/parse-passage.ts'
import { createNameMatcher } from '../../../daemon/models/quoted-answers/question/match-names.ts'

const test = suite('names that a question writes in its own way')

for (const [question, name, count] of [
  ['slowlog length', 'slowlog-max-len', 2],
  ['slowlog length', 'slowlog-log-slower-than', 0],
  ['Is append only on by default?', 'appendonly', 2],
  ['What is the value of max auth tries?', 'MaxAuthTries', 3],
  ["What's the default name of the session cookie?", 'SESSION_COOKIE_NAME', 3],
  ['What does handler timeout do?', 'handlerTimeout', 2],
  // A single word says too little.
  ['session', 'SESSION_COOKIE_NAME', 0],
  ['What is the name of the append only file?', 'appendfilename', 3],
  // The question is about something else.
  ['How often is the append only file flushed to disk?', 'appendonly', 0],
  ['What is the append only file called?', 'appendonly', 0],
  ['How do I include another file in the configuration?', 'cluster-config-file', 0],
  ['When does the session cookie expire?', 'SESSION_COOKIE_NAME', 0],
  ['Where are log files written?', 'log_file_mode', 0],
  ['How many log files are kept?', 'log_file', 0],
  ['', 'appendonly', 0],
] as const) {
  test(`"${question}" has ${count} words of ${name}`, () => assert.is(createNameMatcher(question)(name), count))
}

/** Returns the parts with the name of the question, and the others that have another name. */
function match(question: string, content: string, source: string) {
  const blocks = parseBlocks(content, source)
  const parts = parseParts(content, blocks).map((part) => ({ ...part, words: new Set<string>() }))
  const matches = matchRecords(question, [{ headings: '', content, blocks, parts }])
  const list = (isNamed: boolean) =>
    parts.filter((part) => matches.get(part)?.isNamed === isNamed).map(({ start, end }) => content.slice(start, end))
  return { named: list(true), others: list(false) }
}

test('the setting with the name is preferred to other settings', () => {
  const settings = '# Microseconds.\nslowlog-log-slower-than 10000\n\n# There is no limit.\nslowlog-max-len 128'
  const { named, others } = match('slowlog length', settings, 'server.conf')
  assert.equal([named.map((text) => text.split('\n').at(-1)), others.length], [['slowlog-max-len 128'], 1])
  assert.equal(match('How slow is slow?', settings, 'server.conf'), { named: [], others: [] })
  const switches = '# Others may lose data.\nappendonly no\n\nappendfilename a.aof\n\nlog_file a.log'
  assert.equal(match('Is append only persistence on by default?', switches, 'server.conf').named, [
    '# Others may lose data.\nappendonly no',
  ])
  assert.equal(match('Is the log file compression on?', switches, 'server.conf').named, [])
})

test('sections about other names lose, but not those about something else', () => {
  const sections =
    '# Options\n\nAll have defaults.\n\n## SESSION_LIFETIME\n\nDefault: 31 days\n\n## SESSION_COOKIE_NAME\n\nDefault: session'
  const { others } = match('What is the default name of the session cookie?', sections, 'config.md')
  assert.equal(others, ['## SESSION_LIFETIME', 'Default: 31 days'])
  assert.equal(match('Which option overrides the session cookie name?', sections, 'config.md').others, [])
  const products = '## macOS\n\nDownload it.\n\n## team.txt\n\nAna wrote it.\n\n## `request.maxTimeout`\n\nDefault: 30 s'
  assert.equal(match('What is the max timeout on macOS?', products, 'config.md').others, [])
  assert.equal(match('What is the default max timeout?', products, 'config.md'), { named: [], others: [] })
})

test('a long name and a long question are matched', () => {
  const matchName = createNameMatcher('append only '.repeat(10_000))
  const items = '- a\n'.repeat(5_000)
  assert.is(match('append only', items, 'a.md').others.length, 0)
  assert.is(match('append only', `## a${'`'.repeat(20_000)}\n\nText.`, 'a.md').others.length, 0)
  for (const name of ['a-'.repeat(50_000), `${'a'.repeat(100_000)}B`, '-'.repeat(100_000)]) assert.is(matchName(name), 0)
})

test.run()
