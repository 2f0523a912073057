/** The format of backups: a gzip-compressed tar archive of the files of a home, with a manifest as its last file. */

export const BACKUP_FORMAT = 1
export const MANIFEST_NAME = 'manifest.json'
export const DATABASE_NAME = 'cadre.db'
export const VAULT_NAME = 'vault.json'
/** Small files in the home. Some homes have only a part of them. */
export const HOME_FILES = [VAULT_NAME, 'vault.key', 'token', 'config.json'] as const
export const BACKUP_EXTENSION = '.tar.gz'

export interface BackupFile {
  name: string
  size: number
  sha256: string
}

export interface BackupManifest {
  format: number
  version: string
  created_at: string
  /** The home that was backed up. The keychain has entries by home. */
  home: string
  files: BackupFile[]
}

/** Whether a name can be part of a backup. Everything else is rejected: paths to the outside, links and unknown files. */
export const isBackupName = (name: string): boolean =>
  name === DATABASE_NAME ||
  (HOME_FILES as readonly string[]).includes(name) ||
  /^documents\/[0-9a-f]{2}\/[0-9a-f]{64}$/.test(name) ||
  /^vectors(?:\/[A-Za-z0-9_][\w.=-]{0,120}){1,8}$/.test(name)
