/** Errors of every kind: the exit code, and words that say what to do. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { formatFailure, formatFailureJson, toFailure, UsageError } from '../../../src/cli/terminal/errors.ts'
import { parseServiceError, UnreachableError } from '../../../src/client/errors.ts'
import type { ErrorCode } from '../../../src/contract/errors.ts'

const test = suite('failures')

const answered = (status: number, code: ErrorCode, more: object = {}) =>
  parseServiceError(status, JSON.stringify({ success: false, error: 'It is so.', code, ...more }), 'req_1')

test('each kind of error has its exit code', () => {
  const codes = [
    answered(500, 'INTERNAL'),
    answered(409, 'CONFLICT'),
    answered(400, 'VALIDATION_ERROR'),
    new UsageError('no'),
    answered(404, 'NOT_FOUND'),
    answered(401, 'UNAUTHENTICATED'),
    answered(403, 'FORBIDDEN'),
    new UnreachableError('nobody'),
    answered(429, 'RATE_LIMITED'),
    new Error('a bug'),
  ].map((error) => toFailure(error).exitCode)
  assert.equal(codes, [1, 1, 2, 2, 3, 4, 4, 5, 7, 1])
})

test('an error without a hint of its own gets one where there is a way out', () => {
  assert.match(toFailure(answered(403, 'FORBIDDEN')).hint ?? '', 'cadre tokens create')
  assert.is(toFailure(answered(403, 'FORBIDDEN', { hint: 'Do this.' })).hint, 'Do this.')
})

test('without a token, people are told what they type, not what a program sends', () => {
  const { hint = '' } = toFailure(answered(401, 'UNAUTHENTICATED', { hint: 'Send Authorization: Bearer <ACCESS_TOKEN>.' }))
  assert.match(hint, 'CADRE_TOKEN')
  assert.match(hint, 'cadre tokens recover')
})

test('details are listed once, and a failure of the service names its request', () => {
  const details = [
    { field: 'name', problem: 'is required' },
    { field: 'limit', problem: 'is too high' },
  ]
  assert.is(
    formatFailure(toFailure(answered(400, 'VALIDATION_ERROR', { details }))),
    'Error: It is so.\n  name: is required\n  limit: is too high',
  )
  const [first] = details
  assert.is(
    formatFailure(toFailure(answered(400, 'VALIDATION_ERROR', { error: 'name: is required', details: [first] }))),
    'Error: name: is required',
  )
  assert.match(formatFailure(toFailure(answered(500, 'INTERNAL'))), 'Request req_1')
  const error = 'It is used by agent "A" (agent_1) and 1 more.'
  const users = ['agent_1', 'agent_2'].map((id) => ({ field: `${id}.tools`, problem: 'this agent uses it' }))
  assert.is(
    formatFailure(toFailure(answered(409, 'CONFLICT', { error, details: users }))),
    `Error: ${error}\n  agent_2.tools: this agent uses it\nRequest req_1`,
  )
})

test('what the service echoes cannot steer the terminal', () => {
  const evil = toFailure(answered(404, 'NOT_FOUND', { error: 'There is no \u001b[2J\u009b2Jagent.' }))
  assert.is(formatFailure(evil), 'Error: There is no 2Jagent.')
})

test('as JSON it holds everything, with the exit code', () => {
  assert.equal(JSON.parse(formatFailureJson(toFailure(answered(404, 'NOT_FOUND')))), {
    success: false,
    code: 'NOT_FOUND',
    error: 'It is so.',
    request_id: 'req_1',
    exit_code: 3,
  })
})

test.run()
