/** Shows the progress of a backup in megabytes. */
import type { ProgressDisplay } from '../terminal/progress-bar.ts'

const MEGABYTE = 1_000_000
const toMegabytes = (bytes: number) => Math.ceil(bytes / MEGABYTE)

export const showBytes = (display: ProgressDisplay, label: string) => (bytes: number, totalBytes: number | null) =>
  display.show({ label, done: toMegabytes(bytes), total: totalBytes === null ? null : toMegabytes(totalBytes), unit: 'MB' })
