/** Expands archives, mailboxes and mails into documents, with limits on depth, number and size. */
import { createSelection } from '../../../../src/files/selection.ts'
import { formatSkipReason } from '../../sources/format-skip-reason.ts'
import { DocumentReadError } from '../parsed-document.ts'
import { type ContainerKind, detectContainer } from './container-kind.ts'
import { listMembers, type MemberReader } from './list-members.ts'
import type { Member } from './member.ts'
import { cleanPath, UniquePaths } from './member-path.ts'

/** A document in a container. */
export interface ExpandedDocument {
  /** Relative to the container: `notes/wifi.txt`. */
  path: string
  /** Missing if the document cannot be read or is skipped. */
  bytes?: Uint8Array
  problem?: string
  /** Why it is not read. */
  skipReason?: string
}

/** Which files are read. */
export interface MemberSelection {
  file_types?: string[]
  exclude?: string[]
  max_file_size?: number
  /** Whether images are documents. Default: true. */
  ocr?: boolean
}

/** What was read of a mailbox before, when it had fewer mails. */
export interface EarlierMails {
  /** Of the mails, without their attachments. */
  paths: ReadonlySet<string>
  /** Mails and attachments. */
  count: number
  bytes: number
}

/** A change makes the next sync expand all containers again. */
export const EXPANSION_VERSION = 2

export const MAX_DEPTH = 4
const MAX_MEMBERS = 50_000
/** Of all files of a container, decompressed. */
export const MAX_TOTAL_BYTES = 1024 ** 3

/** Ends the expansion; a damaged file in a container does not. */
class ExpansionLimitError extends DocumentReadError {}

/** Throws DocumentReadError if the container is damaged or exceeds a limit. The documents before remain valid. */
export async function* expandContainer(
  bytes: Uint8Array,
  name: string,
  configuration: MemberSelection,
  earlier?: EarlierMails,
): AsyncGenerator<ExpandedDocument> {
  const kind = detectContainer(bytes, name)
  if (kind) yield* new Expansion(configuration, earlier).expand(kind, bytes, name, '', 1)
}

class Expansion {
  readonly #selection: ReturnType<typeof createSelection>
  #members = 0
  #bytes = 0

  readonly #earlier: EarlierMails | undefined

  constructor(configuration: MemberSelection, earlier: EarlierMails | undefined) {
    this.#selection = createSelection(configuration)
    this.#earlier = earlier
    this.#members = earlier?.count ?? 0
    this.#bytes = earlier?.bytes ?? 0
  }

  async *expand(kind: ContainerKind, bytes: Uint8Array, name: string, prefix: string, depth: number): AsyncGenerator<ExpandedDocument> {
    const paths = new UniquePaths()
    if (depth === 1 && this.#earlier) paths.restore(this.#earlier.paths)
    for await (const member of listMembers(kind, bytes, name, this.#createReader())) {
      if (++this.#members > MAX_MEMBERS)
        throw new ExpansionLimitError(`The archive has more than ${MAX_MEMBERS} files; only the first ones were read.`)
      const cleaned = cleanPath(member.name)
      if (cleaned === '') continue
      const path = prefix + paths.add(cleaned)
      const isIncluded = member.isMail || this.#selection.includesFile(cleaned)
      if (member.problem !== undefined) yield { path, problem: member.problem }
      else if (member.bytes && isIncluded) yield* this.#expandMember({ ...member, bytes: member.bytes }, path, depth)
      // Hidden and excluded files are not mentioned, as in a folder.
      else if (this.#selection.hasUnsupportedType(cleaned)) yield { path, skipReason: formatSkipReason(cleaned) }
    }
  }

  async *#expandMember(member: Member & { bytes: Uint8Array }, path: string, depth: number): AsyncGenerator<ExpandedDocument> {
    const { bytes } = member
    const kind = detectContainer(bytes, path)
    if (kind && kind !== 'mail' && kind !== 'outlook' && depth >= MAX_DEPTH) {
      yield { path, problem: `The archive is nested too deeply; archives are read to a depth of ${MAX_DEPTH}.` }
      return
    }
    yield { path, bytes }
    if (kind && depth < MAX_DEPTH) yield* this.#expandNested(kind, bytes, path, depth + 1)
  }

  /** A damaged archive in another one has its reason when it is read itself. */
  async *#expandNested(kind: ContainerKind, bytes: Uint8Array, path: string, depth: number): AsyncGenerator<ExpandedDocument> {
    try {
      yield* this.expand(kind, bytes, path, `${path}/`, depth)
    } catch (error) {
      if (error instanceof ExpansionLimitError || !(error instanceof DocumentReadError)) throw error
    }
  }

  #createReader(): MemberReader {
    return {
      accepts: (name) => this.#selection.includesFile(cleanPath(name)),
      maxFileSize: this.#selection.maxFileSize,
      countBytes: (length) => {
        this.#bytes += length
        if (this.#bytes > MAX_TOTAL_BYTES)
          throw new ExpansionLimitError(`The archive has more than ${MAX_TOTAL_BYTES / 1024 ** 2} MB; only its first files were read.`)
        return MAX_TOTAL_BYTES - this.#bytes
      },
    }
  }
}
