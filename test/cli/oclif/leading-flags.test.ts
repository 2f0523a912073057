import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { moveLeadingFlags } from '../../../src/cli/oclif/leading-flags.ts'

const test = suite('leading flags')

test('global flags before the command are moved behind it, and other words stay', () => {
  const cases: [string, string][] = [
    ['agents list --limit 3', 'agents list --limit 3'],
    ['--profile team agents list', 'agents list --profile team'],
    ['--json -o json --profile=team status', 'status --json -o json --profile=team'],
    ['--profile team tools add x -- npx --yes y', 'tools add x --profile team -- npx --yes y'],
    ['--help', '--help'],
    ['--profile team', '--profile team'],
    ['--profile', '--profile'],
    ['', ''],
  ]
  const split = (text: string) => text.split(' ').filter(Boolean)
  for (const [typed, expected] of cases) assert.equal(moveLeadingFlags(split(typed)), split(expected))
})

test.run()
