/** Recognizes containers: archives, mailboxes and mails, whose files are documents of their own. */

export type ContainerKind = 'zip' | 'tar' | 'gzip' | 'mailbox' | 'mail' | 'outlook'

const ARCHIVE_TYPES = new Set(['zip', 'tar', 'gz', 'tgz'])
const MAIL_TYPES = new Set(['eml', 'mbox', 'msg'])
/** The first bytes of Outlook messages and old Office documents, in hexadecimal. */
export const COMPOUND_FILE_MAGIC = 'd0cf11e0a1b11ae1'
const TAR_BLOCK_BYTES = 512
const HEADER_LINE = /^(?:>?From [^\n]*\n)?[A-Za-z][A-Za-z0-9-]*:[ \t\r\n]/

/** Whether files of this type may contain other documents. */
export const isContainerType = (type: string): boolean => ARCHIVE_TYPES.has(type) || MAIL_TYPES.has(type)

export const getFileType = (name: string): string => /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''

/** The content decides, but only for names of archives and mails: a Word document is a zip file, too. */
export function detectContainer(bytes: Uint8Array, name: string): ContainerKind | undefined {
  const type = getFileType(name)
  if (!isContainerType(type)) return undefined
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024))
  if (ARCHIVE_TYPES.has(type)) return detectArchive(head)
  if (head.toString('hex', 0, 8) === COMPOUND_FILE_MAGIC) return 'outlook'
  const start = head.toString('latin1').replace(/^\xef\xbb\xbf/, '')
  if (type === 'mbox' && start.startsWith('From ')) return 'mailbox'
  return HEADER_LINE.test(start) ? 'mail' : undefined
}

function detectArchive(head: Buffer): ContainerKind | undefined {
  if (/^504b(?:0304|0506|0708)/.test(head.toString('hex', 0, 4))) return 'zip'
  if (head.toString('hex', 0, 2) === '1f8b') return 'gzip'
  return isTarHeader(head) ? 'tar' : undefined
}

/** A header of any version of tar has a valid checksum. An empty archive starts with zeros. */
export function isTarHeader(block: Buffer): boolean {
  if (block.length < TAR_BLOCK_BYTES) return false
  const stored = Number.parseInt(
    block
      .toString('latin1', 148, 156)
      .replaceAll(/[\0 ]+/g, ' ')
      .trim(),
    8,
  )
  let sum = 0
  for (let index = 0; index < TAR_BLOCK_BYTES; index++) sum += index >= 148 && index < 156 ? 0x20 : (block[index] as number)
  return stored === sum
}
