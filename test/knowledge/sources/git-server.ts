/** A local git server: git http-backend behind an HTTP listener. */
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'

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
    const parts: Buffer[] = []
    backend.stdout.on('data', (part: Buffer) => parts.push(part))
    backend.on('close', () => {
      const all = Buffer.concat(parts)
      const split = all.indexOf('\r\n\r\n')
      const headers = all
        .subarray(0, split)
        .toString('utf8')
        .split('\r\n')
        .map((line) => line.split(': ') as [string, string])
      const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200'
      reply.writeHead(Number.parseInt(status, 10), Object.fromEntries(headers.filter(([name]) => name !== 'Status')))
      reply.end(all.subarray(split + 4))
    })
  }
}

/** Creates a project with one commit of one document. */
export function createProject(projects: string, name: string, text: string): void {
  const project = join(projects, name)
  mkdirSync(project, { recursive: true })
  writeFileSync(join(project, 'a.md'), text)
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', project, '-c', 'user.name=T', '-c', 'user.email=t@example.com', ...args], { stdio: 'ignore' })
  git('init', '--initial-branch=main')
  git('add', '--all')
  git('-c', 'commit.gpgsign=false', 'commit', '--message', 'a commit')
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
