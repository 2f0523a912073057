/** Counts how often a sync or an evaluation run was resumed, so that one that ends the daemon is not resumed forever. */
import { type DatabaseReader, listColumn, type Transaction } from './database.ts'

/** A kill or a power cut may interrupt a harmless job once or twice. */
const MAX_RESUMES = 2

type JobKind = 'sync' | 'run'

/** Call when a job is resumed. The count remains if the daemon ends before `forgetResumes`. */
export async function countResume(transaction: Transaction, kind: JobKind, jobId: string): Promise<void> {
  const sql = 'INSERT INTO job_resumes (kind, job_id, resumes) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET resumes = resumes + 1'
  await transaction.run(sql, [kind, jobId])
}

/** Call when a job has ended, was stopped with the daemon, or is started by a user. */
export async function forgetResumes(transaction: Transaction, kind: JobKind, jobId: string): Promise<void> {
  await transaction.run('DELETE FROM job_resumes WHERE kind = ? AND job_id = ?', [kind, jobId])
}

/** Lists jobs that must not be resumed again. Only complete before jobs are resumed, which counts them. */
export async function listParkedJobs(reader: DatabaseReader, kind: JobKind): Promise<Set<string>> {
  return new Set(await listColumn(reader, 'SELECT job_id FROM job_resumes WHERE kind = ? AND resumes >= ?', [kind, MAX_RESUMES]))
}
