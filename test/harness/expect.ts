/** What tests say about answers, in one word each. */
import * as assert from 'node:assert/strict'
import type { ErrorCode } from '../../src/contract/errors.ts'
import { ERRORS } from '../../src/contract/errors.ts'
import type { Json, TestResponse } from './test-server.ts'

/** The data of an answer that went well. */
export async function expectData(pending: Promise<TestResponse>, status?: number): Promise<Json> {
  const answer = await pending
  assert.ok(answer.status < 300 && (status === undefined || answer.status === status), `${answer.status}: ${answer.text.slice(0, 500)}`)
  return answer.data
}

export interface ExpectedError {
  /** The field that is blamed first. */
  field?: string
  /** What the error says. */
  error?: RegExp
  hint?: RegExp
}

/** The body of an answer that was refused, for the reason the test expects and no other. */
export async function expectError(
  pending: Promise<TestResponse>,
  code: ErrorCode,
  { field, error, hint }: ExpectedError = {},
): Promise<Json> {
  const { status, text, body } = await pending
  assert.equal(`${status} ${body?.code}`, `${ERRORS[code]} ${code}`, text.slice(0, 500))
  if (field !== undefined) assert.equal(body.details?.[0]?.field, field, text.slice(0, 500))
  if (error) assert.match(body.error, error)
  if (hint) assert.match(body.hint ?? '', hint)
  return body
}
