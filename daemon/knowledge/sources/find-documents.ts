/** The door to every kind of source: what documents it has now, and when a folder changed. */
import type { SourceType } from '../../../src/contract/families/source-configurations.ts'
import { findFolderFiles } from './files/find-folder-files.ts'
import { findListedFiles } from './files/find-listed-files.ts'
import { type FolderWatch, watchFolderTree } from './files/folder-watcher.ts'
import { findText } from './find-text.ts'
import { findRepositoryFiles } from './git/find-repository-files.ts'
import type { SourceDocument, SourceOptions } from './source-document.ts'
import { findPages } from './web/find-pages.ts'

export type { SourceDocument, SourceOptions } from './source-document.ts'

/**
 * Every document of a source, as it finds them. Throws CadreError when the source itself cannot be read (folder gone,
 * repository unreachable): what was known of it then stays.
 */
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

/** Watches a folder source: calls back after changes have settled; close() ends it. */
export function watchFolder(configuration: Record<string, unknown>, changed: () => void, onError: (error: Error) => void): FolderWatch {
  return watchFolderTree(configuration, changed, onError)
}
