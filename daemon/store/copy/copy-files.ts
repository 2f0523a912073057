/** Copies documents and vectors between a home and a bucket. Files that were copied before are only verified. */
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CadreError } from '../../../src/contract/errors.ts'
import { type DatabaseReader, listColumn } from '../database.ts'
import { formatKey, ORIGINALS_PREFIX } from '../objects/bucket-originals.ts'
import type { ReportProgress } from './copy-records.ts'
import type { FileTree } from './file-trees.ts'

const MAX_CONCURRENT_COPIES = 8
const VECTORS_PREFIX = 'vectors/'

interface CopyTask {
  source: string
  target: string
  size: number
  /** The hash of an original is known. */
  digest?: string
}

/** Returns the number of files. The records say which files are needed; `temporary` is a folder for downloads. */
export async function copyFiles(
  records: DatabaseReader,
  { source, target }: { source: FileTree; target: FileTree },
  temporary: string,
  report: ReportProgress,
): Promise<number> {
  await mkdir(temporary, { recursive: true, mode: 0o700 })
  const tasks = [...(await listOriginals(records, source, target)), ...(await listVectors(records, source))]
  const present = new Map([...(await target.list(ORIGINALS_PREFIX)), ...(await target.list(VECTORS_PREFIX))])
  await runTasks(
    tasks,
    temporary,
    (done) => report({ label: 'Copying files', done, total: tasks.length, unit: 'files' }),
    async (task, path) => {
      if (present.get(task.target) === task.size) return
      await target.store(task.target, await source.fetch(task.source, task.size, path), task.size)
    },
  )
  const verify = async (task: CopyTask, path: string) => {
    const expected = task.digest ?? (await source.hash(task.source, task.size, path))
    if ((await target.hash(task.target, task.size, path)) === expected) return
    // Copied again the next time.
    throw new CadreError('INTERNAL', `The copy of ${task.source} in ${target.location} differs from the original.`, {
      hint: `Delete ${task.target} there and run the command again.`,
    })
  }
  await runTasks(tasks, temporary, (done) => report({ label: 'Verifying files', done, total: tasks.length, unit: 'files' }), verify)
  await rm(temporary, { recursive: true, force: true })
  return tasks.length
}

/** In a bucket, the key of content that was removed before contains the number of removals. */
async function listOriginals(records: DatabaseReader, source: FileTree, target: FileTree): Promise<CopyTask[]> {
  const rows = await records.all<{ content_hash: string; removals: number | null; name: string }>(
    `SELECT d.content_hash, r.removals, min(d.name) AS name
     FROM documents d LEFT JOIN original_removals r ON r.content_hash = d.content_hash
     WHERE d.content_hash <> '' GROUP BY d.content_hash`,
  )
  const sizes = await source.list(ORIGINALS_PREFIX)
  const isBucket = (tree: FileTree) => tree.location.includes('://')
  return rows.map(({ content_hash: digest, removals, name }) => {
    const getName = (tree: FileTree) => formatKey(digest, isBucket(tree) ? (removals ?? 0) : 0)
    const size = sizes.get(getName(source))
    if (size === undefined)
      throw new CadreError('CONFLICT', `The original of the document "${name}" is missing in ${source.location}.`, {
        hint: 'Start the daemon, sync its knowledge source or delete the document, then copy again.',
      })
    return { source: getName(source), target: getName(target), size, digest }
  })
}

/** Only the tables of indexes that exist. Without a manifest, a table is not complete. */
async function listVectors(records: DatabaseReader, source: FileTree): Promise<CopyTask[]> {
  const indexIds = await listColumn(records, 'SELECT id FROM indexes')
  const tables = new Set(indexIds.flatMap((id) => [`${id}-text.lance`, `${id}-vectors.lance`]))
  const files = [...(await source.list(VECTORS_PREFIX))].filter(([name]) => tables.has(name.split('/')[1] as string))
  return files.map(([name, size]) => ({ source: name, target: name, size }))
}

async function runTasks(
  tasks: readonly CopyTask[],
  temporary: string,
  report: (done: number) => void,
  run: (task: CopyTask, path: string) => Promise<void>,
): Promise<void> {
  let [next, done] = [0, 0]
  const work = async (_: unknown, worker: number) => {
    while (next < tasks.length) {
      await run(tasks[next++] as CopyTask, join(temporary, `file-${worker}`))
      report(++done)
    }
  }
  await Promise.all(Array.from({ length: MAX_CONCURRENT_COPIES }, work))
}
