/** Lists the files of archives, mailboxes and mails. Content is only read if it is requested. */
import { createGunzip } from 'node:zlib'
import { formatSizeProblem } from '../../sources/files/read-file-within.ts'
import { DECOMPRESSION_LIMIT_MESSAGE } from '../limit-allocations.ts'
import { DocumentReadError } from '../parsed-document.ts'
import { ZipArchive } from '../zip-archive.ts'
import { type ContainerKind, isTarHeader } from './container-kind.ts'
import type { Member } from './member.ts'
import { readTar } from './read-tar.ts'

/** Whether the content of a file is wanted, and how much of it may be read. */
export interface MemberReader {
  accepts(name: string): boolean
  maxFileSize: number
  /** Bytes that may still be decompressed. Throws DocumentReadError if there are none. */
  countBytes(length: number): number
}

const MAX_ZIP_ENTRIES = 0xfffe
const GZIP_CHUNK_BYTES = 256 * 1024

/** Yields accepted members with content, others without. Returns nothing for a document that is only packed as an archive. */
export async function* listMembers(kind: ContainerKind, bytes: Uint8Array, name: string, reader: MemberReader): AsyncGenerator<Member> {
  if (kind === 'zip') return yield* listZip(bytes, reader)
  if (kind === 'tar') return yield* listTar([bytes], reader)
  if (kind === 'gzip') return yield* listGzip(bytes, name, reader)
  // Loaded on demand, as most sources have no mails.
  const { listMails, listAttachments } = await import('../mail/list-mails.ts')
  yield* kind === 'mailbox' ? listMails(bytes) : listAttachments(kind, bytes)
}

/** Returns undefined for office documents and e-books. */
export function openArchive(bytes: Uint8Array, maxInflatedBytes?: number): ZipArchive | undefined {
  const archive = new ZipArchive(bytes, MAX_ZIP_ENTRIES, maxInflatedBytes)
  const isDocument =
    archive.has('[Content_Types].xml') ||
    archive.has('META-INF/container.xml') ||
    (archive.has('mimetype') && archive.has('content.xml')) ||
    archive.names.some((part) => part.startsWith('word/'))
  if (isDocument) return undefined
  if (archive.isEncrypted) throw new DocumentReadError('The archive is password-protected.')
  return archive
}

function* listZip(bytes: Uint8Array, reader: MemberReader): Generator<Member> {
  const archive = openArchive(bytes, reader.countBytes(0))
  for (const { name, size } of archive?.listFiles() ?? []) {
    if (!reader.accepts(name)) yield { name }
    else if (size > reader.maxFileSize) yield { name, problem: formatSizeProblem(size, reader.maxFileSize) }
    else {
      const content = readZipEntry(archive as ZipArchive, name)
      if (content.bytes) reader.countBytes(content.bytes.length)
      yield content
    }
  }
}

function readZipEntry(archive: ZipArchive, name: string): Member {
  try {
    return { name, bytes: archive.read(name) }
  } catch (error) {
    if (!(error instanceof DocumentReadError) || error.message === DECOMPRESSION_LIMIT_MESSAGE) throw error
    // The other files may be intact.
    return { name, problem: error.message }
  }
}

async function* listTar(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, reader: MemberReader): AsyncGenerator<Member> {
  const accepted = new Set<string>()
  const shouldRead = ({ path, size }: { path: string; size: number }) => {
    if (!reader.accepts(path)) return false
    accepted.add(path)
    return size <= reader.maxFileSize
  }
  for await (const { path, size, isFile, bytes } of readTar(chunks, shouldRead)) {
    if (!isFile) continue
    if (bytes) yield { name: path, bytes }
    else yield accepted.has(path) ? { name: path, problem: formatSizeProblem(size, reader.maxFileSize) } : { name: path }
    accepted.delete(path)
  }
}

/** A compressed tar archive, or one compressed file. */
async function* listGzip(bytes: Uint8Array, name: string, reader: MemberReader): AsyncGenerator<Member> {
  const chunks = decompress(bytes, reader)[Symbol.asyncIterator]()
  const first = await chunks.next()
  const start = first.done ? Buffer.alloc(0) : first.value
  const all = prepend(start, chunks)
  // The archive may be empty: two blocks of zeros.
  if (isTarHeader(start) || /\.(?:tgz|tar\.gz)$/i.test(name)) return yield* listTar(all, reader)
  const inner = name.replace(/^.*\//, '').replace(/\.t?gz$/i, '')
  if (!reader.accepts(inner)) return yield { name: inner }
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of all) {
    size += chunk.length
    if (size > reader.maxFileSize) return yield { name: inner, problem: formatSizeProblem(size, reader.maxFileSize, 'at least ') }
    parts.push(chunk)
  }
  yield { name: inner, bytes: Buffer.concat(parts) }
}

async function* decompress(bytes: Uint8Array, reader: MemberReader): AsyncGenerator<Buffer> {
  const stream = createGunzip({ chunkSize: GZIP_CHUNK_BYTES })
  stream.end(bytes)
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      reader.countBytes(chunk.length)
      yield chunk
    }
  } catch (error) {
    if (error instanceof DocumentReadError) throw error
    throw new DocumentReadError('The archive is truncated or damaged: it cannot be decompressed.')
  } finally {
    stream.destroy()
  }
}

async function* prepend(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.length > 0) yield first
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value
}
