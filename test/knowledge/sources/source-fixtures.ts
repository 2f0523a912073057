/** Helpers for tests of sources. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { CadreError } from '../../../src/contract/errors.ts'

export function writeFiles(root: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
}

/** Returns the CadreError that the work must fail with. */
export async function expectFailure(work: Promise<unknown>): Promise<CadreError> {
  try {
    await work
  } catch (error) {
    assert.instance(error, CadreError)
    return error as CadreError
  }
  throw new Error('nothing failed')
}
