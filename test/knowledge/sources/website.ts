/** A local website for tests of url sources. */
import { mkdtempSync, rmSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import type { SourceDocument } from '../../../daemon/knowledge/sources/source-document.ts'
import { createOutbound, type Outbound } from '../../../daemon/outbound/client.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { type RecordingServer, startRecordingServer } from '../../outbound/recording-server.ts'

export interface Page {
  status?: number
  headers?: Record<string, string>
  body?: string | Buffer
  /** Never responds. */
  silent?: boolean
}
export type Pages = Record<string, string | Page | ((request: IncomingMessage) => Page)>

export interface Website extends RecordingServer {
  pages: Pages
  /** Paths requested since the last call, without robots.txt. */
  visits(): string[]
}

export const html = (title: string, ...links: string[]) =>
  `<!doctype html><title>${title}</title><h1>${title}</h1>${links.map((link) => `<a href="${link}">to ${link}</a>`).join(' ')}`

export async function website(pages: Pages): Promise<Website> {
  const server = await startRecordingServer((request, reply) => {
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

export interface Context {
  work: string
  site: Website
  outbound: Outbound
}
/** Creates a suite in which each test has its own site, directory and client. */
export function urlSuite(name: string) {
  const test = suite<Context>(name)
  test.before.each(async (context) => {
    context.work = mkdtempSync(join(tmpdir(), 'cadre-url-'))
    context.site = await website({})
    context.outbound = createOutbound({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  })
  test.after.each(async ({ work, site, outbound }) => {
    await outbound.close()
    await site.close()
    rmSync(work, { recursive: true, force: true })
  })
  return test
}

export const signal = new AbortController().signal

export async function collectDocuments(
  { work, site, outbound }: Context,
  configuration: Record<string, unknown>,
  pages?: Pages,
): Promise<{ found: SourceDocument[]; error: CadreError | undefined }> {
  if (pages) site.pages = pages
  const found: SourceDocument[] = []
  const whole = { url: site.origin, allow_private_network: true, ...configuration }
  try {
    for await (const document of findDocuments('url', { configuration: whole, signal, workDirectory: work, outbound })) found.push(document)
  } catch (error) {
    assert.instance(error, CadreError, String((error as Error).stack))
    return { found, error: error as CadreError }
  }
  return { found, error: undefined }
}

export async function listDocuments(context: Context, configuration: Record<string, unknown>, pages?: Pages): Promise<SourceDocument[]> {
  const { found, error } = await collectDocuments(context, configuration, pages)
  if (error) throw error
  return found
}
export const expectFailure = async (context: Context, configuration: Record<string, unknown>, pages?: Pages) => {
  const { error } = await collectDocuments(context, configuration, pages)
  if (!error) throw new Error('nothing failed')
  return error
}
export const paths = (found: SourceDocument[]) => found.map(({ name }) => new URL(name).pathname + new URL(name).search)
export const text = async (found: SourceDocument | undefined) => Buffer.from((await found?.read(signal)) ?? []).toString('utf8')
