/** Helpers for tests of sources. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import type { SourceDocument } from '../../../daemon/knowledge/sources/source-document.ts'
import { CadreError } from '../../../src/contract/errors.ts'

export function writeFiles(root: string, files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
}

/** Returns the documents of a folder source, sorted by name. */
export async function listFolderDocuments(root: string, configuration: Record<string, unknown> = {}): Promise<SourceDocument[]> {
  const found: SourceDocument[] = []
  const options = {
    configuration: { path: root, ...configuration },
    signal: new AbortController().signal,
    workDirectory: join(root, '.home', 'work', 'ks_1'),
    outbound: undefined as never,
  }
  for await (const document of findDocuments('folder', options)) found.push(document)
  return found.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Lists the names of documents, without skipped files. */
export const listNames = (found: readonly SourceDocument[]): string[] =>
  found.flatMap(({ name, skipReason }) => (skipReason === undefined ? [name] : [])).sort()

export const listFolderNames = async (root: string, configuration?: Record<string, unknown>): Promise<string[]> =>
  listNames(await listFolderDocuments(root, configuration))

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
