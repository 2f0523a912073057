/** Expands the archives, mailboxes and mails of a source into documents. An unchanged container is not read again. */
import { hash } from 'node:crypto'
import { getFileType, isContainerType } from '../readers/containers/container-kind.ts'
import { EXPANSION_VERSION, type ExpandedDocument, type MemberSelection } from '../readers/containers/expand-container.ts'
import { toBuffer } from '../readers/encoding/decode-text.ts'
import { startsMail } from '../readers/mail/split-mailbox.ts'
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
    this.#selection = { file_types, exclude, max_file_size, ocr: ocr === false || repository !== undefined ? false : undefined }
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
    const selection = hash('sha256', JSON.stringify([EXPANSION_VERSION, this.#selection]), 'hex').slice(0, 16)
    const expansion = parseFingerprint(previous?.fingerprint)
    const isComplete =
      expansion?.selection === selection && expansion.count === members.length && members.every(({ fingerprint }) => fingerprint !== '')
    if (expansion?.file !== container.fingerprint || !isComplete) {
      const earlier = isComplete && previous?.status !== 'failed' ? { members, mailbox: expansion.mailbox } : undefined
      return this.#expandChanged(container, selection, earlier, store, signal)
    }
    await storeUnchanged(members, store)
    const problem = previous?.status === 'failed' ? (previous.error ?? undefined) : undefined
    return { ...container, fingerprint: previous?.fingerprint ?? '', problem }
  }

  async #expandChanged(
    container: SourceDocument,
    selection: string,
    earlier: EarlierExpansion | undefined,
    store: StoreDocument,
    signal: AbortSignal,
  ): Promise<SourceDocument> {
    const { name, type, metadata } = container
    let bytes: Uint8Array
    try {
      bytes = await container.read(signal)
    } catch {
      signal.throwIfAborted()
      return container // reading it again reports the error
    }
    const isMailbox = (type ?? getFileType(name)) === 'mbox'
    const start = isMailbox && earlier ? findNewMails(bytes, earlier.mailbox) : 0
    const known = start > 0 && earlier ? earlier.members : []
    await storeUnchanged(known, store)
    let count = known.length
    let total = known.length
    let skipped = known.filter(({ status }) => status === 'skipped').length
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
      const rest = bytes.subarray(start)
      const input = { name: typedName, size: rest.length, read: async () => rest }
      const mails = known.length === 0 ? undefined : { paths: listMailPaths(name, known), count: known.length, bytes: start }
      await this.#parserPool.expand(input, { selection: this.#selection, earlier: mails }, storeAll, signal)
    } catch (error) {
      if (!(error instanceof DocumentReadError)) throw error
      problem = error.message
    }
    const counts = { files: total - skipped, ...(skipped > 0 ? { skipped_files: skipped } : {}) }
    const mailbox = isMailbox && problem === undefined ? { size: bytes.length, hash: hash('sha256', bytes, 'hex') } : undefined
    return {
      ...container,
      fingerprint: formatFingerprint({ file: container.fingerprint, selection, count, mailbox }),
      metadata: { ...metadata, ...(total > 0 ? counts : {}) },
      problem,
    }
  }
}

/** What the fingerprint of a container says about its expansion. */
interface Expansion {
  /** Fingerprint of the file. */
  file: string
  /** Hash of what selects its files. */
  selection: string
  count: number
  /** The mailbox that was expanded. Mails that are appended to it are read without the others. */
  mailbox?: { size: number; hash: string }
}

interface EarlierExpansion {
  members: readonly KnownDocument[]
  mailbox: Expansion['mailbox']
}

const formatFingerprint = ({ file, selection, count, mailbox }: Expansion): string =>
  [file, selection, count, ...(mailbox ? [`${mailbox.size}-${mailbox.hash}`] : [])].join('+')

function parseFingerprint(text: string | null | undefined): Expansion | undefined {
  const [, file, selection, count, size, content] = /^(.*)\+([0-9a-f]{16})\+(\d+)(?:\+(\d+)-([0-9a-f]{64}))?$/s.exec(text ?? '') ?? []
  if (file === undefined || selection === undefined) return undefined
  return { file, selection, count: Number(count), mailbox: content === undefined ? undefined : { size: Number(size), hash: content } }
}

/** Returns where the mails start that were appended, or 0 if other parts of the mailbox may have changed. */
function findNewMails(bytes: Uint8Array, mailbox: Expansion['mailbox']): number {
  if (!mailbox || mailbox.size === 0 || mailbox.size >= bytes.length) return 0
  const isSame = hash('sha256', bytes.subarray(0, mailbox.size), 'hex') === mailbox.hash
  return isSame && startsMail(toBuffer(bytes), mailbox.size) ? mailbox.size : 0
}

/** Mails are directly in a mailbox, attachments below their mail. */
const listMailPaths = (container: string, members: readonly KnownDocument[]): Set<string> =>
  new Set(members.map(({ name }) => name.slice(container.length + 1)).filter((path) => !path.includes('/')))

async function storeUnchanged(members: readonly KnownDocument[], store: StoreDocument): Promise<void> {
  const read = () => Promise.reject(new Error('An unchanged document is not read.'))
  for (const { name, fingerprint, status, error } of members) {
    // The fingerprint of an image without text is that of its content.
    const skipReason = status === 'skipped' && error !== null && fingerprint === error ? error : undefined
    await store({ name, fingerprint: fingerprint ?? '', read, skipReason })
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
    problem,
    skipReason,
  }
}
