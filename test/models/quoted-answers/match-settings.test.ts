import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { parseBlocks, parseParts } from '../../../daemon/models/quoted-answers/parse-passage.ts'
import { matchSettings } from '../../../daemon/models/quoted-answers/question/match-settings.ts'

const test = suite('settings that a question names')

const content = [
  '# The time is in microseconds.\nslowlog-log-slower-than 10000',
  '# There is no limit.\nslowlog-max-len 128',
  '# Other persistence modes may lose data.\nappendonly no',
  '#MaxAuthTries 6',
  'cluster-config-file nodes.conf',
  '# include /etc/local.conf',
].join('\n\n')
const parts = parseParts(content, parseBlocks(content, 'server.conf'))

function findNamed(question: string): string | undefined {
  const matches = matchSettings(question, [{ content, parts }])
  assert.ok(matches.size === 0 || matches.size === parts.length)
  const named = [...matches].flatMap(([part, isNamed]) => (isNamed ? [content.slice(part.start, part.end)] : []))
  return named.join('\n').split('\n').at(-1) || undefined
}

for (const [question, setting] of [
  ['slowlog length', 'slowlog-max-len 128'],
  ['Is append only persistence on by default?', 'appendonly no'],
  ['What is the value of max auth tries?', '#MaxAuthTries 6'],
  ['MaxAuthTries', undefined],
  // Most of the question is about something else.
  ['How often is the append only file flushed to disk?', undefined],
  ['How do I include another file in the configuration?', undefined],
  ['', undefined],
] as const) {
  test(`"${question}" names ${setting ?? 'none'}`, () => assert.is(findNamed(question), setting))
}

test('a long line and a long question are matched', () => {
  for (const line of [`${'a-'.repeat(50_000)} 1`, `${'a'.repeat(100_000)}B 1`, ' '.repeat(100_000), `a${' '.repeat(100_000)}b`]) {
    const part = parseParts(line, parseBlocks(line, 'server.conf'))
    assert.is(matchSettings('append only '.repeat(10_000), [{ content: line, parts: part }]).size, 0)
  }
})

test.run()
