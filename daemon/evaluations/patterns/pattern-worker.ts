/** Worker thread that matches regular expressions of users. */
import { serveJobs } from '../../workers/serve-jobs.ts'

export interface MatchTask {
  pattern: string
  text: string
}

await serveJobs<MatchTask, boolean>(
  () =>
    ({ pattern, text }) =>
      new RegExp(pattern, 'u').test(text),
)
