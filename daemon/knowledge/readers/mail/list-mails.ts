/** Lists the mails of a mailbox and the attachments of a mail as files of a container. */
import type { Member } from '../containers/member.ts'
import { cleanName } from '../containers/member-path.ts'
import { toBuffer } from '../encoding/decode-text.ts'
import { joinTexts } from '../parsed-document.ts'
import { formatSender, formatSubject } from './format-mail.ts'
import { listMailAttachments, readMailHeader } from './read-mail.ts'
import { listOutlookFiles } from './read-outlook-mail.ts'
import { splitMailbox } from './split-mailbox.ts'

/** Mails are named by date, subject and sender, so that a name stays the same when other mails are deleted. */
export function* listMails(bytes: Uint8Array): Generator<Member> {
  for (const mail of splitMailbox(toBuffer(bytes))) {
    const { subject, from, date } = readMailHeader(mail)
    const sender = formatSender(from)
    const title = [date?.day ?? '', formatSubject(subject).slice(0, 120), sender === '' ? '' : `(${sender})`]
    yield { name: `${cleanName(joinTexts(title, ' '))}.eml`, bytes: mail, isMail: true }
  }
}

export function* listAttachments(kind: 'mail' | 'outlook', bytes: Uint8Array): Generator<Member> {
  const attachments = kind === 'mail' ? listMailAttachments(bytes) : listOutlookFiles(bytes)
  for (const { name, read } of attachments) yield { name: cleanName(name), bytes: read() }
}
