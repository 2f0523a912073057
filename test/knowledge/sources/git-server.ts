/** A local git server: git http-backend behind an HTTP listener. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { writeFiles } from './source-fixtures.ts'

export function createGitBackend(projects: string): RequestListener {
  return (request, reply) => {
    const url = new URL(request.url ?? '/', 'http://git.test')
    const env = {
      ...process.env,
      GIT_PROJECT_ROOT: projects,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: decodeURIComponent(url.pathname),
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    }
    const backend = spawn('git', ['http-backend'], { env, stdio: ['pipe', 'pipe', 'ignore'] })
    request.pipe(backend.stdin)
    let start = Buffer.alloc(0)
    const readHeaders = (part: Buffer) => {
      start = Buffer.concat([start, part])
      const end = start.indexOf('\r\n\r\n')
      if (end < 0) return
      backend.stdout.off('data', readHeaders)
      const headers = start
        .subarray(0, end)
        .toString('utf8')
        .split('\r\n')
        .map((line) => line.split(': ') as [string, string])
      const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200'
      reply.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers.filter(([name]) => name !== 'Status')))
      reply.write(start.subarray(end + 4))
      backend.stdout.pipe(reply)
    }
    backend.stdout.on('data', readHeaders)
    // The client has left.
    backend.stdin.on('error', () => {})
    reply.on('close', () => backend.kill())
  }
}

const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgsign=false']
export const git = (directory: string, ...args: string[]) =>
  execFileSync('git', ['-C', directory, ...IDENTITY, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim()

/** Writes the files and commits everything. Returns the id of the commit. */
export function commit(project: string, files: Record<string, string>): string {
  writeFiles(project, files)
  git(project, 'add', '--all')
  git(project, 'commit', '--quiet', '--message', 'a commit')
  return git(project, 'rev-parse', 'HEAD')
}

/** Creates a project with one commit of one document. */
export function createProject(projects: string, name: string, text: string): void {
  const project = join(projects, name)
  mkdirSync(project, { recursive: true })
  git(project, 'init', '--quiet', '--initial-branch=main')
  commit(project, { 'a.md': text })
}

/** Serves requests with one of the accepted Authorization headers; rejects others and repeats their header in the response. */
export function createGuardedBackend(projects: string, accepted: readonly string[]): RequestListener {
  const backend = createGitBackend(projects)
  const refusal: RequestListener = (request, reply) => {
    request.resume()
    reply.writeHead(401, { 'www-authenticate': 'Basic', 'content-type': 'text/plain' }).end(`refused: ${request.headers.authorization}\n`)
  }
  return (request, reply) => (accepted.includes(request.headers.authorization ?? '') ? backend : refusal)(request, reply)
}
