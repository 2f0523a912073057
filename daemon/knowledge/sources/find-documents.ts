/** Finds the documents of sources of each type. */
import { hash } from 'node:crypto'
import type { SourceType } from '../../../src/contract/schemas/source-configurations.ts'
import { findFolderFiles } from './files/find-folder-files.ts'
import { findListedFiles } from './files/find-listed-files.ts'
import { findRepositoryFiles } from './git/find-repository-files.ts'
import type { SourceDocument, SourceOptions } from './source-document.ts'
import { findPages } from './web/find-pages.ts'

const FINDERS: Record<SourceType, (options: SourceOptions) => AsyncGenerator<SourceDocument>> = {
  file: findListedFiles,
  folder: findFolderFiles,
  git: findRepositoryFiles,
  text: findText,
  url: findPages,
}

/** Throws CadreError if the source itself cannot be read; its known documents are kept then. */
export const findDocuments = (type: SourceType, options: SourceOptions): AsyncGenerator<SourceDocument> => FINDERS[type](options)

/** The document of a text source is the text in its configuration. */
async function* findText({ configuration }: SourceOptions): AsyncGenerator<SourceDocument> {
  const bytes = Buffer.from((configuration as { text: string }).text, 'utf8')
  yield { name: 'text.md', fingerprint: hash('sha256', bytes, 'hex'), read: async () => bytes }
}
