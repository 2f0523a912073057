/** Writes archives as `cadre backup` does, with any content. */
import { createHash } from 'node:crypto'
import { createHeader, createPadding, createTrailer } from '../../../src/backup/tar.ts'

export type Files = Record<string, Buffer | string>

export const createEntry = (name: string, content: Buffer | string, change = (_: Buffer) => {}): Buffer => {
  const bytes = Buffer.from(content)
  const header = createHeader(name, bytes.length, new Date(0))
  change(header)
  return Buffer.concat([header, bytes, createPadding(bytes.length)])
}

export const createManifest = (files: Files, fields = {}): Buffer =>
  createEntry(
    'manifest.json',
    JSON.stringify({
      format: 1,
      version: '0.1.0',
      created_at: '2026-01-31T09:30:00.000Z',
      home: '/home',
      files: Object.entries(files).map(([name, content]) => ({
        name,
        size: Buffer.from(content).length,
        sha256: createHash('sha256').update(content).digest('hex'),
      })),
      ...fields,
    }),
  )

/** Not compressed. */
export const createArchive = (files: Files, manifest = createManifest(files)): Buffer =>
  Buffer.concat([...Object.entries(files).map(([name, content]) => createEntry(name, content)), manifest, createTrailer()])

/** A file with the header of a database of one page, and the definition of a table. */
export function createDatabase(table = 'migrations'): Buffer {
  const page = Buffer.alloc(512)
  page.write('SQLite format 3\0', 'latin1')
  page.writeUInt16BE(page.length, 16)
  page.writeUInt32BE(1, 28)
  page.write(`CREATE TABLE ${table} (name TEXT)`, 200)
  return page
}
