/** Assertions about responses. */
import * as assert from 'node:assert/strict'
import { ERRORS, type ErrorCode } from '../../src/contract/errors.ts'
import type { Json, TestResponse } from './test-server.ts'

/** Asserts that a request succeeds and returns its data. */
export async function expectData(pending: Promise<TestResponse>, status?: number): Promise<Json> {
  const response = await pending
  assert.ok(
    response.status < 300 && (status === undefined || response.status === status),
    `${response.status}: ${response.text.slice(0, 500)}`,
  )
  return response.data
}

interface ExpectedError {
  /** The first field in the details. */
  field?: string
  error?: RegExp
  hint?: RegExp
}

/** Asserts that a request fails with the error code and returns the error body. */
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
