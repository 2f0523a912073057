/**
 * Reads the sample files: mails by Python's email and mailbox, archives by zip and tar, a man page by pod2man, an Outlook message by
 * the compound file writer of msgreader, a notebook in the layout of nbformat 4.5.
 */
import { readFileSync } from 'node:fs'

export const readSample = (name: string): Uint8Array => new Uint8Array(readFileSync(new URL(`samples/${name}`, import.meta.url)))
