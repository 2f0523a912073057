/** Creates the backup family: its routes and the task that backs up the home every day. */
import type { Clock } from '../../async/clock.ts'
import { RecurringTask } from '../../async/recurring-task.ts'
import { bindBackupRoutes } from './routes.ts'
import { BackupService } from './service.ts'

const CHECK_INTERVAL_MS = 3_600_000

type ServiceDependencies = ConstructorParameters<typeof BackupService>[0]

interface BackupFamilyDependencies extends ServiceDependencies {
  clock: Clock
  /** Number of daily backups to keep; 0 disables them. */
  getDailyBackups(): Promise<number>
}

export function createBackup({ clock, getDailyBackups, ...dependencies }: BackupFamilyDependencies) {
  const service = new BackupService(dependencies)
  const daily = new RecurringTask(clock, CHECK_INTERVAL_MS, async (signal) => {
    const keep = await getDailyBackups()
    const day = new Date(clock.now()).toISOString().slice(0, 10)
    if (keep > 0)
      await service
        .createDaily(day, keep, signal)
        .catch((error: unknown) => dependencies.logger.error({ err: error }, 'the daily backup could not be written'))
  })
  return {
    bindings: bindBackupRoutes(service),
    start: () => daily.start(),
    async close() {
      await Promise.all([service.close(), daily.close()])
    },
  }
}
