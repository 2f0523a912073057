/** A real git server on this machine: git's own http-backend behind a listener. */
import { spawn } from 'node:child_process'
import type { RequestListener } from 'node:http'

export function gitBackend(projects: string): RequestListener {
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
