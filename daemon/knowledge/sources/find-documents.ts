import type { SourceType } from '../../../src/contract/schemas/source-configurations.ts'
import { findFolderFiles } from './files/find-folder-files.ts'
import { findListedFiles } from './files/find-listed-files.ts'
import { findText } from './find-text.ts'
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
