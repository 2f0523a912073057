/** Migration 0016: how often syncs and evaluation runs were resumed. */
import type { Migration } from '../../migration.ts'

export const jobResumes: Migration = {
  name: '0016-job-resumes',
  async up(transaction) {
    await transaction.run(
      `CREATE TABLE job_resumes (kind TEXT NOT NULL, job_id TEXT NOT NULL, resumes INTEGER NOT NULL,
        PRIMARY KEY (kind, job_id)) WITHOUT ROWID`,
    )
  },
}
