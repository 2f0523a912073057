/** A website on this machine, for sources that read the web. */
import type { IncomingMessage } from 'node:http'
import { type StandIn, standIn } from '../../outbound/stand-in.ts'

export interface Page {
  status?: number
  headers?: Record<string, string>
  body?: string | Buffer
  /** Never answers. */
  silent?: boolean
}
export type Pages = Record<string, string | Page | ((request: IncomingMessage) => Page)>

export interface Website extends StandIn {
  pages: Pages
  /** What was asked for since the last time, without robots.txt. */
  visits(): string[]
}

export const html = (title: string, ...links: string[]) =>
  `<!doctype html><title>${title}</title><h1>${title}</h1>${links.map((link) => `<a href="${link}">to ${link}</a>`).join(' ')}`

export async function website(pages: Pages): Promise<Website> {
  const server = await standIn((request, reply) => {
    const found = site.pages[request.url ?? '/']
    const page = typeof found === 'function' ? found(request) : typeof found === 'string' ? { body: found } : found
    if (page?.silent) return
    if (!page) reply.writeHead(404, { 'content-type': 'text/html' }).end('nothing here')
    else reply.writeHead(page.status ?? 200, { 'content-type': 'text/html; charset=utf-8', ...page.headers }).end(page.body)
  })
  const site: Website = Object.assign(server, {
    pages,
    visits: () =>
      server.requests
        .splice(0)
        .map(({ url }) => url)
        .filter((url) => url !== '/robots.txt'),
  })
  return site
}
