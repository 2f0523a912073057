import { backupRoutes } from '../../../src/contract/families/backups.ts'
import { type Binding, bind } from '../../http/binding.ts'
import type { BackupService } from './service.ts'

export const bindBackupRoutes = (backups: BackupService): Binding[] => [
  bind(backupRoutes.create, ({ body, signal }) => backups.create(body, signal)),
]
