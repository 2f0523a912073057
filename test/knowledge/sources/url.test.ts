import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Found, findDocuments } from '../../../daemon/knowledge/sources/source.ts'
import { createOutbound, type Outbound } from '../../../daemon/outbound/client.ts'
import { CadreError } from '../../../src/contract/errors.ts'
import { standIn } from '../../outbound/stand-in.ts'
import { html, type Pages, type Website, website } from './site.ts'

interface Context {
  work: string
  site: Website
  outbound: Outbound
}
const test = suite<Context>('url sources')

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

const signal = new AbortController().signal

async function collected(
  { work, site, outbound }: Context,
  configuration: Record<string, unknown>,
  pages?: Pages,
): Promise<{ found: Found[]; error: CadreError | undefined }> {
  if (pages) site.pages = pages
  const found: Found[] = []
  const whole = { url: site.origin, allow_private_network: true, ...configuration }
  try {
    for await (const document of findDocuments('url', { configuration: whole, signal, work, outbound })) found.push(document)
  } catch (error) {
    assert.instance(error, CadreError, String((error as Error).stack))
    return { found, error: error as CadreError }
  }
  return { found, error: undefined }
}

async function listed(context: Context, configuration: Record<string, unknown>, pages?: Pages): Promise<Found[]> {
  const { found, error } = await collected(context, configuration, pages)
  if (error) throw error
  return found
}
const failure = async (context: Context, configuration: Record<string, unknown>, pages?: Pages) => {
  const { error } = await collected(context, configuration, pages)
  if (!error) throw new Error('nothing failed')
  return error
}
const paths = (found: Found[]) => found.map(({ name }) => new URL(name).pathname + new URL(name).search)
const text = async (found: Found | undefined) => Buffer.from((await found?.read(signal)) ?? []).toString('utf8')

test('a page is one document with its title, address and type', async (context) => {
  const { site } = context
  const page = html('Tom &amp; J&#xe9;r&#244;me', '/other')
  const found = await listed(context, { url: `${site.origin}/a?x=1&utm_source=mail#part` }, { '/a?x=1': page })
  assert.equal(paths(found), ['/a?x=1'])
  assert.is(await text(found[0]), page)
  assert.equal([found[0]?.type, found[0]?.metadata?.title, found[0]?.metadata?.url], ['html', 'Tom & Jérôme', `${site.origin}/a?x=1`])
  assert.equal(site.visits(), ['/a?x=1'])
})

test('text, PDF and JSON are pages too; other types are refused with a reason', async (context) => {
  const types = {
    'application/pdf': 'pdf',
    'application/json': 'json',
    'application/ld+json': 'json',
    'text/plain; charset=utf-8': 'txt',
    'text/markdown': 'md',
    'text/csv': 'csv',
    'application/xhtml+xml': 'html',
  }
  for (const [type, expected] of Object.entries(types)) {
    const [found] = await listed(context, {}, { '/': { headers: { 'content-type': type }, body: 'x' } })
    assert.is(found?.type, expected, type)
  }
  for (const type of ['image/png', 'application/zip', 'video/mp4', 'application/octet-stream', 'text/css'])
    assert.is((await failure(context, {}, { '/': { headers: { 'content-type': type }, body: 'x' } })).code, 'UNSUPPORTED_MEDIA_TYPE', type)
})

test('a page that cannot be had is an error of the source', async (context) => {
  assert.is((await failure(context, {}, {})).code, 'NOT_FOUND')
  assert.is((await failure(context, {}, { '/': { status: 500 } })).code, 'UNAVAILABLE')
  assert.is((await failure(context, {}, { '/': { status: 403 } })).code, 'FORBIDDEN')
  assert.is((await failure(context, { mode: 'site' }, {})).code, 'NOT_FOUND')
  assert.is((await failure(context, { mode: 'sitemap' }, {})).code, 'UNAVAILABLE')
  assert.match((await failure(context, { mode: 'sitemap' }, { '/': html('A page') })).message, 'is not a sitemap')
  assert.is((await failure(context, { url: 'http://127.0.0.1:9/' })).code, 'PROVIDER_ERROR')
})

test('the private network is closed to pages, sites, sitemaps, and to redirects and links from them', async (context) => {
  const { site } = context
  for (const mode of ['page', 'site', 'sitemap'])
    for (const host of ['127.0.0.1', 'localhost', 'inner.test', '2130706433', '[::ffff:127.0.0.1]'])
      assert.is((await failure(context, { url: `http://${host}:${site.port}/`, mode, allow_private_network: false })).code, 'ADDRESS_BLOCKED', host)
  assert.is(site.connections, 0)
  const other = await standIn()
  site.pages = { '/': { status: 302, headers: { location: `http://0.0.0.0:${other.port}/` } } }
  for (const mode of ['page', 'site', 'sitemap']) assert.is((await failure(context, { mode })).code, 'ADDRESS_BLOCKED')
  const found = await listed(
    context,
    { mode: 'site' },
    { '/': html('Start', '/away'), '/away': { status: 302, headers: { location: `http://0.0.0.0:${other.port}/` } } },
  )
  assert.equal(
    found.map(({ problem }) => problem !== undefined),
    [false, true],
  )
  assert.is(other.connections, 0)
  await other.close()
})

test('a site is read breadth first, as deep as asked, within its origin', async (context) => {
  const pages = {
    '/': html('Start', '/a', 'b', `${'http://elsewhere.test/'}`, 'mailto:x@example.com', 'javascript:void(0)', '/image.png', '#top'),
    '/a': html('A', '/a/deep', '/'),
    '/b': html('B', '/b/deep'),
    '/a/deep': html('A deep', '/a/deeper'),
    '/b/deep': html('B deep'),
    '/a/deeper': html('A deeper'),
  }
  assert.equal(paths(await listed(context, { mode: 'site' }, pages)), ['/', '/a', '/b', '/a/deep', '/b/deep'])
  assert.equal(context.site.visits(), ['/', '/a', '/b', '/a/deep', '/b/deep'])
  assert.equal(paths(await listed(context, { mode: 'site', max_depth: 0 })), ['/'])
  assert.equal(paths(await listed(context, { mode: 'site', max_depth: 1 })), ['/', '/a', '/b'])
  assert.equal(paths(await listed(context, { mode: 'site', max_depth: 10 })).length, 6)
  assert.equal(paths(await listed(context, { mode: 'site', max_depth: 10, max_pages: 3 })), ['/', '/a', '/b'])
})

test('circles, fragments, tracking and redirects come to one document a page', async (context) => {
  const pages = {
    '/': html('Start', '/a#one', '/a#two', '/a?utm_source=x&amp;utm_medium=y', '/a?fbclid=1', '/old', '/', '/index.html', '/a?page=2'),
    '/index.html': html('Start', '/a#one', '/a#two', '/a?utm_source=x&amp;utm_medium=y', '/a?fbclid=1', '/old', '/', '/index.html', '/a?page=2'),
    '/a': html('A', '/', '/a'),
    '/a?page=2': html('A, page 2'),
    '/old': { status: 301, headers: { location: '/a' } },
  }
  assert.equal(paths(await listed(context, { mode: 'site' }, pages)), ['/', '/a', '/a?page=2'])
})

test('a page may name its true address, and one that always names the front page is not believed', async (context) => {
  const canonical = (address: string, body: string) => `<link rel="canonical" href="${address}">${body}`
  const pages = {
    '/': html('Start', '/print/a', '/a', '/b', '/far'),
    '/print/a': canonical('/a', html('A, printed')),
    '/a': canonical('/a', html('A')),
    '/b': canonical('/', html('B')),
    '/far': canonical('http://elsewhere.test/far', html('Far')),
  }
  assert.equal(paths(await listed(context, { mode: 'site' }, pages)), ['/', '/a', '/b', '/far'])
})

test('a page that fails is a problem, and the others are read', async (context) => {
  const pages = {
    '/': html('Start', '/gone', '/broken', '/closed', '/ok', '/file'),
    '/broken': { status: 500 },
    '/closed': { status: 401 },
    '/ok': html('Fine'),
    '/file': { headers: { 'content-type': 'application/zip' }, body: 'PK' },
  }
  const found = await listed(context, { mode: 'site' }, pages)
  assert.equal(
    found.map(({ name, problem }) => [new URL(name).pathname, /answered (\d+)/.exec(problem ?? '')?.[1]]),
    [
      ['/', undefined],
      ['/gone', '404'],
      ['/broken', '500'],
      ['/closed', '401'],
      ['/ok', undefined],
    ],
  )
})

test('robots.txt is respected, and asked for once', async (context) => {
  const robots = 'User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nAllow: /private/open$\nDisallow: /*.pdf$\n'
  const pages = {
    '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: robots },
    '/': html('Start', '/private/a', '/private/open', '/x.pdf', '/b'),
    '/private/open': html('Open'),
    '/b': html('B'),
  }
  assert.equal(paths(await listed(context, { mode: 'site' }, pages)), ['/', '/private/open', '/b'])
  assert.is(context.site.requests.filter(({ url }) => url === '/robots.txt').length, 1)
  assert.not.ok(context.site.visits().some((url) => url === '/private/a' || url === '/x.pdf'))
  assert.is((await failure(context, { mode: 'site' }, { ...pages, '/robots.txt': 'User-agent: Cadre\nDisallow: /\n' })).code, 'FORBIDDEN')
  assert.is((await failure(context, { mode: 'site' }, { ...pages, '/robots.txt': { status: 503 } })).code, 'UNAVAILABLE')
  assert.is((await listed(context, { mode: 'page' }, { ...pages, '/robots.txt': 'User-agent: *\nDisallow: /\n' })).length, 1)
})

test('no more than two requests are under way at once', async (context) => {
  let now = 0
  let most = 0
  const { site } = context
  site.pages = { '/': html('Start', ...Array.from({ length: 12 }, (_, at) => `/${at}`)) }
  const answer = site.answer
  site.answer = (request, reply) => {
    most = Math.max(most, ++now)
    reply.once('finish', () => now--)
    setTimeout(() => answer(request, reply), 10)
  }
  for (let at = 0; at < 12; at++) site.pages[`/${at}`] = html(`Page ${at}`)
  const found = await listed(context, { mode: 'site' })
  assert.equal([found.length, most], [13, 2])
  assert.equal(paths(found).slice(1, 4), ['/0', '/1', '/2'], 'in the order of the links, whichever came first')
})

test('what did not change is not sent again, and what did is read anew', async (context) => {
  const { site, work } = context
  let version = 1
  const tagged =
    (title: string, ...links: string[]) =>
    (request: { headers: { 'if-none-match'?: string } }) => {
      const etag = `"${title === 'A' ? version : 0}"`
      return request.headers['if-none-match'] === etag
        ? { status: 304 }
        : { headers: { etag }, body: html(`${title} ${title === 'A' ? version : ''}`, ...links) }
    }
  site.pages = { '/': tagged('Start', '/a', '/b') as never, '/a': tagged('A', '/c') as never, '/b': html('B'), '/c': html('C') }
  const first = await listed(context, { mode: 'site' })
  const second = await listed(context, { mode: 'site' })
  assert.equal(paths(second), ['/', '/a', '/b', '/c'])
  assert.equal(
    second.map(({ fingerprint }) => fingerprint),
    first.map(({ fingerprint }) => fingerprint),
  )
  assert.match(await text(second[1]), 'A 1')
  version = 2
  const third = await listed(context, { mode: 'site' })
  assert.is.not(third[1]?.fingerprint, first[1]?.fingerprint)
  assert.match(await text(third[1]), 'A 2')
  assert.is(readdirSync(join(work, 'pages')).length, 8, 'four pages, a header and a body each')
  delete site.pages['/c']
  site.pages['/'] = html('Start again', '/b')
  assert.equal(paths(await listed(context, { mode: 'site' })), ['/', '/b'])
  assert.is(readdirSync(join(work, 'pages')).length, 4)
})

test('a damaged copy is fetched again', async (context) => {
  const { site, work } = context
  site.pages = { '/': (request) => (request.headers['if-none-match'] === '"1"' ? { status: 304 } : { headers: { etag: '"1"' }, body: html('Start') }) }
  const [before] = await listed(context, {})
  for (const name of readdirSync(join(work, 'pages'))) if (!name.endsWith('.json')) writeFileSync(join(work, 'pages', name), 'damaged')
  const [after] = await listed(context, {})
  assert.is(after?.fingerprint, before?.fingerprint)
  assert.match(await text(after), 'Start')
})

test('a page whose server is in trouble keeps what was read last; one that is gone does not', async (context) => {
  const pages: Pages = { '/': html('Start', '/a', '/b'), '/a': html('A'), '/b': html('B') }
  await listed(context, { mode: 'site' }, pages)
  const found = await listed(context, { mode: 'site' }, { ...pages, '/a': { status: 502 }, '/b': { status: 410 } })
  assert.equal(
    found.map(({ problem }) => problem !== undefined),
    [false, false, true],
  )
  assert.match(await text(found[1]), 'A')
})

test('a server that asks to be asked later is', async (context) => {
  let asked = 0
  const found = await listed(context, {}, { '/': () => (asked++ === 0 ? { status: 429, headers: { 'retry-after': '0' } } : { body: html('Start') }) })
  assert.equal([found.length, asked], [1, 2])
})

test('sitemaps are read, also lists of lists, compressed and as plain text, on the same site only', async (context) => {
  const { site } = context
  const urls = (...locations: string[]) =>
    `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${locations.map((at) => `<url><loc> ${at} </loc><lastmod>2026-01-01</lastmod></url>`).join('')}</urlset>`
  const index = (...locations: string[]) => `<sitemapindex>${locations.map((at) => `<sitemap><loc>${at}</loc></sitemap>`).join('')}</sitemapindex>`
  const at = (path: string) => site.origin + path
  site.pages = {
    '/sitemap.xml': index(at('/one.xml'), at('/two.xml.gz'), at('/three.txt'), at('/sitemap.xml'), 'http://elsewhere.test/x.xml'),
    '/one.xml': urls(at('/a'), at('/q?x=1&amp;y=2'), at('/a'), 'http://elsewhere.test/b', '<![CDATA['.concat(at('/cdata'), ']]>')),
    '/two.xml.gz': { headers: { 'content-type': 'application/gzip' }, body: gzipSync(urls(at('/packed'), at('/missing'))) },
    '/three.txt': { headers: { 'content-type': 'text/plain' }, body: `${at('/plain')}\n${at('/a')}\n` },
    '/a': html('A', '/not-followed'),
    '/q?x=1&y=2': html('Q'),
    '/cdata': html('C'),
    '/packed': html('P'),
    '/plain': html('T'),
  }
  const found = await listed(context, { url: at('/sitemap.xml'), mode: 'sitemap' })
  assert.equal(paths(found), ['/a', '/q?x=1&y=2', '/cdata', '/packed', '/missing', '/plain'])
  assert.equal(found.filter(({ problem }) => problem).length, 1)
  assert.equal(paths(await listed(context, { url: at('/sitemap.xml'), mode: 'sitemap', max_pages: 2 })), ['/a', '/q?x=1&y=2'])
})

test('a list inside a sitemap that cannot be read is an error, once the others were read', async (context) => {
  const { site } = context
  site.pages = {
    '/s.xml': `<sitemapindex><loc>${site.origin}/gone.xml</loc><loc>${site.origin}/two.xml</loc></sitemapindex>`,
    '/two.xml': `<urlset><loc>${site.origin}/a</loc></urlset>`,
    '/a': html('A'),
  }
  const { found, error } = await collected(context, { url: `${site.origin}/s.xml`, mode: 'sitemap' })
  assert.equal([paths(found), error?.code], [['/a'], 'UNAVAILABLE'])
})

test('a compressed sitemap that unpacks without end is refused', async (context) => {
  const bomb = gzipSync(Buffer.alloc(60 * 1024 * 1024))
  const error = await failure(context, { mode: 'sitemap' }, { '/': { headers: { 'content-type': 'application/gzip' }, body: bomb } })
  assert.is(error.code, 'PAYLOAD_TOO_LARGE')
})

test('an endless site ends at its most pages', async (context) => {
  context.site.pages = new Proxy({} as Pages, {
    get: (_, path: string) => (path === '/robots.txt' ? undefined : html(`Page ${path}`, `${path}x`, `${path}y`)),
  })
  assert.is((await listed(context, { mode: 'site', max_depth: 10, max_pages: 25 })).length, 25)
})

test('reading ends when it is told to, and when nobody wants more', async (context) => {
  const { site, work, outbound } = context
  site.pages = { '/': html('Start', '/a', '/slow'), '/a': html('A'), '/slow': { silent: true } }
  const configuration = { url: site.origin, mode: 'site', allow_private_network: true }
  for await (const { name } of findDocuments('url', { configuration, signal, work, outbound })) if (name.endsWith('/a')) break
  const ending = new AbortController()
  try {
    for await (const { name } of findDocuments('url', { configuration, signal: ending.signal, work, outbound }))
      if (name.endsWith('/a')) ending.abort(new Error('enough'))
    assert.unreachable()
  } catch (error) {
    assert.is((error as Error).message, 'enough')
  }
})

test.run()
