import type { SourceType } from '../../../src/contract/schemas/source-configurations.ts'
import { findFolderFiles } from './files/find-folder-files.ts'
import { findListedFiles } from './files/find-listed-files.ts'
import { findText } from './find-text.ts'
import { findRepositoryFiles } from './git/find-repository-files.ts'
import type { SourceDocument, SourceOptions } from './source-document.ts'
import { findPages } from './web/find-pages.ts'

/** Throws CadreError if the source itself cannot be read; its known documents are kept then. */
export async function* findDocuments(type: SourceType, options: SourceOptions): AsyncGenerator<SourceDocument> {
  switch (type) {
    case 'file':
      return yield* findListedFiles(options)
    case 'folder':
      return yield* findFolderFiles(options)
    case 'git':
      return yield* findRepositoryFiles(options)
    case 'text':
      return yield* findText(options)
    case 'url':
      return yield* findPages(options)
  }
}
