/** A file in an archive, a mailbox or a mail. */

export interface Member {
  /** As the container says; not safe to use. */
  name: string
  bytes?: Uint8Array
  problem?: string
  /** A mail of a mailbox: part of the container itself, whatever file types are read. */
  isMail?: boolean
}
