import { readFileSync } from 'node:fs'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { CadreError, ERRORS, type ErrorCode } from '../../src/contract/errors.ts'

const test = suite('errors')
const rows = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| `'))
  .map((line) => line.split('|').slice(1, -1))

test('docs/errors.md lists all error codes in the order of the contract', () => {
  assert.equal(
    rows.map(([code]) => code?.trim().replaceAll('`', '')),
    Object.keys(ERRORS),
  )
})

test('docs/errors.md gives each code its status, a meaning and an action', () => {
  for (const [code = '', status, meaning = '', remedy = ''] of rows) {
    assert.is(Number(status), ERRORS[code.trim().replaceAll('`', '') as ErrorCode], code)
    for (const sentence of [meaning, remedy]) assert.match(sentence.trim(), /^[A-Z`].{15,}\.$/, code)
  }
})

test('an error has the status of its code and keeps its cause', () => {
  const cause = new Error('underneath')
  for (const code of Object.keys(ERRORS) as ErrorCode[]) assert.is(new CadreError(code, 'x').status, ERRORS[code])
  assert.is(new CadreError('INTERNAL', 'x', { cause }).cause, cause)
  assert.not.ok('cause' in new CadreError('INTERNAL', 'x'))
})

test.run()
