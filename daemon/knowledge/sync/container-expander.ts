/** Expands the archives, mailboxes and mails of a source into documents. An unchanged container is not read again. */
import { hash } from 'node:crypto'
import { getFileType, isContainerType } from '../readers/containers/container-kind.ts'
import { EXPANSION_VERSION, type ExpandedDocument, type MemberSelection } from '../readers/containers/expand-container.ts'
import { DocumentReadError } from '../readers/parsed-document.ts'
import type { SourceDocument } from '../sources/source-document.ts'
import type { KnownDocument } from './discovery-store.ts'
import type { ParserPool } from './parser-pool.ts'

/** The first part of a name that may be a container. Files in an archive from the web follow a #, which browsers do not send. */
const CONTAINER_NAME = /^(https?:\/\/[^#]*(?=#)|.*?\.(?:zip|tar|t?gz|eml|mbox|msg)(?=\/))/i

/** Stores a document. Returns false if another one has its name. */
type StoreDocument = (document: SourceDocument) => Promise<boolean>

export class ContainerExpander {
  readonly #parserPool: ParserPool
  readonly #selection: MemberSelection
  readonly #membersByContainer = new Map<string, KnownDocument[]>()

  /** `known` are the documents that earlier syncs have found. */
  constructor(parserPool: ParserPool, configuration: Record<string, unknown>, known: Iterable<KnownDocument>) {
    const { file_types, exclude, max_file_size, ocr, repository } = configuration as MemberSelection & { repository?: string }
    this.#parserPool = parserPool
    this.#selection = {
      ...(file_types ? { file_types } : {}),
      ...(exclude ? { exclude } : {}),
      ...(max_file_size === undefined ? {} : { max_file_size }),
      ...(ocr === false || repository !== undefined ? { ocr: false } : {}),
    }
    for (const document of known) {
      const container = CONTAINER_NAME.exec(document.name)?.[1]
      if (container === undefined) continue
      const members = this.#membersByContainer.get(container)
      if (members) members.push(document)
      else this.#membersByContainer.set(container, [document])
    }
  }

  isContainer({ name, type, problem }: Pick<SourceDocument, 'name' | 'type' | 'problem'>): boolean {
    return problem === undefined && isContainerType(type ?? getFileType(name))
  }

  /** Stores the documents of a container and returns the container itself, which is stored last: after a kill, it is expanded again. */
  async expand(
    container: SourceDocument,
    previous: KnownDocument | undefined,
    store: StoreDocument,
    signal: AbortSignal,
  ): Promise<SourceDocument> {
    const members = this.#membersByContainer.get(container.name) ?? []
    // The selection may have changed. The number of documents tells whether one was deleted or never stored.
    const base = `${container.fingerprint}+${hash('sha256', JSON.stringify([EXPANSION_VERSION, this.#selection]), 'hex').slice(0, 16)}`
    const isUnchanged = previous?.fingerprint === `${base}+${members.length}` && members.every(({ fingerprint }) => fingerprint !== '')
    if (!isUnchanged) return this.#expandChanged(container, base, store, signal)
    const read = () => Promise.reject(new Error('An unchanged document is not read.'))
    for (const { name, fingerprint, status, error } of members) {
      // The fingerprint of an image without text is that of its content.
      const skipReason = status === 'skipped' && error !== null && fingerprint === error ? error : undefined
      await store({ name, fingerprint: fingerprint ?? '', read, ...(skipReason === undefined ? {} : { skipReason }) })
    }
    const problem = previous?.status === 'failed' ? previous.error : null
    return { ...container, fingerprint: previous?.fingerprint ?? '', ...(problem === null ? {} : { problem }) }
  }

  async #expandChanged(container: SourceDocument, base: string, store: StoreDocument, signal: AbortSignal): Promise<SourceDocument> {
    const { name, type, metadata } = container
    let bytes: Uint8Array
    try {
      bytes = await container.read(signal)
    } catch {
      signal.throwIfAborted()
      return container // reading it again reports the error
    }
    let count = 0
    let total = 0
    let skipped = 0
    const storeAll = async (documents: readonly ExpandedDocument[]) => {
      for (const document of documents) {
        total++
        if (document.skipReason !== undefined) skipped++
        if (await store(createMember(container, document))) count++
      }
    }
    let problem: string | undefined
    try {
      const typedName = type === undefined || getFileType(name) === type ? name : `${name}.${type}`
      const input = { name: typedName, size: bytes.length, read: async () => bytes }
      await this.#parserPool.expand(input, this.#selection, storeAll, signal)
    } catch (error) {
      if (!(error instanceof DocumentReadError)) throw error
      problem = error.message
    }
    const counts = { files: total - skipped, ...(skipped > 0 ? { skipped_files: skipped } : {}) }
    return {
      ...container,
      fingerprint: `${base}+${count}`,
      metadata: { ...metadata, ...(total > 0 ? counts : {}) },
      ...(problem === undefined ? {} : { problem }),
    }
  }
}

function createMember({ name, metadata }: SourceDocument, { path, bytes, problem, skipReason }: ExpandedDocument): SourceDocument {
  const content = bytes ?? new Uint8Array(0)
  return {
    name: `${name}${/^https?:/i.test(name) ? '#' : '/'}${path}`,
    fingerprint: problem ?? skipReason ?? hash('sha256', content, 'hex'),
    metadata: { ...metadata, container: name },
    size: content.length,
    read: async () => content,
    ...(problem === undefined ? {} : { problem }),
    ...(skipReason === undefined ? {} : { skipReason }),
  }
}
