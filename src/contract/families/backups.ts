import { Type } from 'typebox'
import { route } from '../route.ts'
import { ErrorEvent } from '../schemas/error-event.ts'
import { count, flag, namedObject, optional, timestamp } from '../schemas/fields.ts'

const path = Type.String({
  minLength: 1,
  maxLength: 4_000,
  pattern: '\\.(?:tar\\.gz|tgz)$',
  description: "Absolute path of the file on the daemon's machine, ending in .tar.gz or .tgz.",
})
const BackupProgress = namedObject('BackupProgress', 'Data of `progress`: how much of the home was read.', {
  bytes: count('Bytes read so far.'),
  total_bytes: count('Bytes to read.'),
})
const Backup = namedObject('Backup', 'Data of `backup_end`: the complete backup.', {
  path,
  size: count('Size of the file, in bytes.'),
  files: count('Number of files of the home in it.'),
  sha256: Type.String({ description: 'SHA-256 checksum of the file, in hexadecimal.' }),
  created_at: timestamp('Time of the backup: it contains all changes before'),
})
export const BACKUP_EVENTS = { progress: BackupProgress, backup_end: Backup, error: ErrorEvent }

export const backupRoutes = {
  create: route({
    id: 'backups.create',
    family: 'system',
    method: 'POST',
    path: '/backups',
    summary: 'Back up the home',
    description:
      'Writes records, documents and sealed secrets to a file, while requests are served. Streams progress events, then one ' +
      'backup_end event or one error event. If the client disconnects, the backup is aborted and no file is left.',
    access: 'admin',
    body: namedObject(
      'BackupCreate',
      'A new backup.',
      {
        path,
        ...optional({
          include_index: flag('Whether to include the indexes, which can be rebuilt.', false),
          overwrite: flag('Whether to replace an existing file.', false),
        }),
      },
      [{ path: '/var/backups/cadre.tar.gz' }],
    ),
    response: Type.String(),
    shape: 'events',
    events: BACKUP_EVENTS,
  }),
}
