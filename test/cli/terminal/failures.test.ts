/** Exit codes, messages and hints of errors. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UsageError } from '../../../src/cli/terminal/failures/command-errors.ts'
import { toFailure } from '../../../src/cli/terminal/failures/describe-failure.ts'
import { formatFailure, formatFailureJson } from '../../../src/cli/terminal/failures/format-failure.ts'
import { parseServiceError, UnreachableError } from '../../../src/client/errors.ts'
import type { ErrorCode } from '../../../src/contract/errors.ts'

const test = suite('error messages')

const createServiceError = (status: number, code: ErrorCode, more: object = {}) =>
  parseServiceError(status, JSON.stringify({ success: false, error: 'It is so.', code, ...more }), 'req_1')

test('each kind of error has its exit code', () => {
  const codes = [
    createServiceError(500, 'INTERNAL'),
    createServiceError(409, 'CONFLICT'),
    createServiceError(400, 'VALIDATION_ERROR'),
    new UsageError('no'),
    createServiceError(404, 'NOT_FOUND'),
    createServiceError(401, 'UNAUTHENTICATED'),
    createServiceError(403, 'FORBIDDEN'),
    new UnreachableError('nobody'),
    createServiceError(429, 'RATE_LIMITED'),
    new Error('a bug'),
  ].map((error) => toFailure(error).exitCode)
  assert.equal(codes, [1, 1, 2, 2, 3, 4, 4, 5, 7, 1])
})

test('an error without a hint gets the default hint of its code', () => {
  assert.match(toFailure(createServiceError(403, 'FORBIDDEN')).hint ?? '', 'cadre tokens create')
  assert.is(toFailure(createServiceError(403, 'FORBIDDEN', { hint: 'Do this.' })).hint, 'Do this.')
})

test('an authentication error has a hint for CLI users instead of API clients', () => {
  const { hint = '' } = toFailure(createServiceError(401, 'UNAUTHENTICATED', { hint: 'Send Authorization: Bearer <ACCESS_TOKEN>.' }))
  assert.match(hint, 'CADRE_TOKEN')
  assert.match(hint, 'cadre tokens recover')
})

test('details are listed once, and a service failure shows its request ID', () => {
  const details = [
    { field: 'name', problem: 'is required' },
    { field: 'limit', problem: 'is too high' },
  ]
  assert.is(
    formatFailure(toFailure(createServiceError(400, 'VALIDATION_ERROR', { details }))),
    'Error: It is so.\n  name: is required\n  limit: is too high',
  )
  const [first] = details
  assert.is(
    formatFailure(toFailure(createServiceError(400, 'VALIDATION_ERROR', { error: 'name: is required', details: [first] }))),
    'Error: name: is required',
  )
  assert.match(formatFailure(toFailure(createServiceError(500, 'INTERNAL'))), 'Request req_1')
  const error = 'It is used by agent "A" (agent_1) and 1 more.'
  const users = ['agent_1', 'agent_2'].map((id) => ({ field: `${id}.tools`, problem: 'this agent uses it' }))
  assert.is(
    formatFailure(toFailure(createServiceError(409, 'CONFLICT', { error, details: users }))),
    `Error: ${error}\n  agent_2.tools: this agent uses it\nRequest req_1`,
  )
})

test('service messages are sanitized', () => {
  const evil = toFailure(createServiceError(404, 'NOT_FOUND', { error: 'There is no \u001b[2J\u009b2Jagent.' }))
  assert.is(formatFailure(evil), 'Error: There is no 2Jagent.')
})

test('a JSON failure contains all fields and the exit code', () => {
  assert.equal(JSON.parse(formatFailureJson(toFailure(createServiceError(404, 'NOT_FOUND')))), {
    success: false,
    code: 'NOT_FOUND',
    error: 'It is so.',
    request_id: 'req_1',
    exit_code: 3,
  })
})

test.run()
