/** Reads a container as a document: the text of a mail, or the names of the files of an archive. */
import { DocumentReadError, type ParsedDocument } from '../parsed-document.ts'
import { type ContainerKind, getFileType } from './container-kind.ts'
import { MAX_TOTAL_BYTES } from './expand-container.ts'
import { listMembers, openArchive } from './list-members.ts'
import { cleanPath } from './member-path.ts'

/** More names would crowd out the documents themselves in a search. */
const MAX_LISTED_NAMES = 100

/** Returns undefined for office documents and e-books, which are zip files, too. */
export async function readContainer(kind: ContainerKind, bytes: Uint8Array, name: string): Promise<ParsedDocument | undefined> {
  if (kind === 'mail') return (await import('../mail/read-mail.ts')).readMail(bytes)
  if (kind === 'outlook') return (await import('../mail/read-outlook-mail.ts')).readOutlookMail(bytes)
  if (kind === 'zip' && !openArchive(bytes)) return undefined
  return listNames(kind, bytes, name)
}

async function listNames(kind: ContainerKind, bytes: Uint8Array, name: string): Promise<ParsedDocument> {
  const names: string[] = []
  let count = 0
  let total = 0
  const countBytes = (length: number) => {
    total += length
    if (total > MAX_TOTAL_BYTES) throw new DocumentReadError(`The archive has more than ${MAX_TOTAL_BYTES / 1024 ** 2} MB.`)
    return MAX_TOTAL_BYTES - total
  }
  for await (const member of listMembers(kind, bytes, name, { accepts: () => false, maxFileSize: 0, countBytes }))
    if (++count <= MAX_LISTED_NAMES) names.push(cleanPath(member.name))
  if (count === 0) throw new DocumentReadError(kind === 'mailbox' ? 'The mailbox is empty.' : 'The archive is empty.')
  const title = name.replace(/^.*\//, '')
  const noun = kind === 'mailbox' ? 'mail' : 'file'
  const more = count > names.length ? [`- and ${count - names.length} more`] : []
  const list = [...names.map((path) => `- ${kind === 'mailbox' ? path.slice(0, -getFileType(path).length - 1) : path}`), ...more]
  const text = `# ${title}\n\n${count} ${noun}${count === 1 ? '' : 's'}:\n\n${list.join('\n')}`
  return { text, format: 'markdown', pages: [], title }
}
