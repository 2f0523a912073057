/** Splits a mailbox (mbox) into its mails. */

const START = Buffer.from('\nFrom ')
/** The line before a mail ends with a date: `From anna@example.com Mon Mar  4 10:15:00 2024`. */
const POSTMARK = /^From .*(?:\d{1,2}:\d{2}|\d{4})/

export function* splitMailbox(bytes: Buffer): Generator<Buffer> {
  let start = 0
  for (let index = bytes.indexOf(START); index >= 0; index = bytes.indexOf(START, index + START.length)) {
    if (!isPostmark(bytes, index + 1)) continue
    yield removeQuoting(bytes.subarray(start, index + 1))
    start = index + 1
  }
  if (start < bytes.length) yield removeQuoting(bytes.subarray(start))
}

/** Whether a mail starts at the offset, so that all mails before it are complete. */
export const startsMail = (bytes: Buffer, offset: number): boolean =>
  bytes.toString('latin1', offset, offset + 5) === 'From ' && isPostmark(bytes, offset)

/** In a text, "From" can be the first word of a line as well. The line before a mail is empty, and a header follows. */
function isPostmark(bytes: Buffer, offset: number): boolean {
  const isAfterBlank = bytes[offset - 2] === 0x0a || (bytes[offset - 2] === 0x0d && bytes[offset - 3] === 0x0a)
  if (!isAfterBlank) return false
  const [line = '', next = ''] = bytes.toString('latin1', offset, offset + 1_000).split(/\r?\n/, 2)
  return POSTMARK.test(line) && /^>?[A-Za-z][A-Za-z0-9-]*[: ]/.test(next)
}

/** In mailboxes, lines that start with "From" are written as ">From". */
function removeQuoting(mail: Buffer): Buffer {
  if (!mail.includes('\n>From ') && !mail.includes('\n>>From ')) return mail
  return Buffer.from(mail.toString('latin1').replaceAll(/\n>(>{0,20}From )/g, '\n$1'), 'latin1')
}
