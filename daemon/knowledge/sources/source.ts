/** The door to every kind of source: what documents it has now, and when a folder changed. */
import type { SourceType } from '../../../src/contract/knowledge-sources.ts'
import { findFiles } from './files/files.ts'
import { findInFolder } from './files/folder.ts'
import { type FolderWatch, watchTree } from './files/watch.ts'
import type { Found, SourceOptions } from './found.ts'
import { findInRepository } from './git/git.ts'
import { findText } from './text.ts'
import { findPages } from './web/url.ts'

export type { Found, SourceOptions } from './found.ts'

/**
 * Every document of a source, as it finds them. Throws CadreError when the source itself cannot be read (folder gone,
 * repository unreachable): what was known of it then stays.
 */
export async function* findDocuments(type: SourceType, options: SourceOptions): AsyncGenerator<Found> {
  switch (type) {
    case 'file':
      return yield* findFiles(options)
    case 'folder':
      return yield* findInFolder(options)
    case 'git':
      return yield* findInRepository(options)
    case 'text':
      return yield* findText(options)
    case 'url':
      return yield* findPages(options)
  }
}

/** Watches a folder source: calls back after changes have settled; close() ends it. */
export function watchFolder(configuration: Record<string, unknown>, changed: () => void, onError: (error: Error) => void): FolderWatch {
  return watchTree(configuration, changed, onError)
}
