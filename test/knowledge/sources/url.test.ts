import * as assert from 'uvu/assert'
import { findDocuments } from '../../../daemon/knowledge/sources/find-documents.ts'
import { Barrier } from '../../harness/barrier.ts'
import { startRecordingServer } from '../../outbound/recording-server.ts'
import { expectFailure, html, listDocuments, type Pages, paths, signal, text, urlSuite } from './website.ts'

const test = urlSuite('url sources')

test('a page source has one document with title, URL and type', async (context) => {
  const { site } = context
  const page = html('Tom &amp; J&#xe9;r&#244;me', '/other')
  const found = await listDocuments(context, { url: `${site.origin}/a?x=1&utm_source=mail#part` }, { '/a?x=1': page })
  assert.equal(paths(found), ['/a?x=1'])
  assert.is(await text(found[0]), page)
  assert.equal([found[0]?.type, found[0]?.metadata?.title, found[0]?.metadata?.url], ['html', 'Tom & Jérôme', `${site.origin}/a?x=1`])
  assert.equal(site.visits(), ['/a?x=1'])
})

test('text, PDF and JSON are accepted as pages, and other types are rejected', async (context) => {
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
    const [found] = await listDocuments(context, {}, { '/': { headers: { 'content-type': type }, body: 'x' } })
    assert.is(found?.type, expected, type)
  }
  for (const type of ['image/png', 'application/x-7z-compressed', 'video/mp4', 'application/octet-stream', 'text/css'])
    assert.is(
      (await expectFailure(context, {}, { '/': { headers: { 'content-type': type }, body: 'x' } })).code,
      'UNSUPPORTED_MEDIA_TYPE',
      type,
    )
})

test('the name of a download decides if the content type does not tell the format', async (context) => {
  const open = (path: string, headers: Record<string, string>) =>
    listDocuments(
      context,
      { url: context.site.origin + path },
      { [path]: { headers: { 'content-type': 'application/octet-stream', ...headers }, body: 'x' } },
    )
  assert.is((await open('/files/lease.docx?version=2', {}))[0]?.type, 'docx')
  assert.is((await open('/download', { 'content-disposition': 'attachment; filename="plan.org"' }))[0]?.type, 'org')
  assert.is((await open('/talk.srt', { 'content-type': 'application/force-download' }))[0]?.type, 'srt')
})

test('a page that cannot be fetched is an error of the source', async (context) => {
  assert.is((await expectFailure(context, {}, {})).code, 'NOT_FOUND')
  assert.is((await expectFailure(context, {}, { '/': { status: 500 } })).code, 'UNAVAILABLE')
  assert.is((await expectFailure(context, {}, { '/': { status: 403 } })).code, 'FORBIDDEN')
  assert.is((await expectFailure(context, { mode: 'site' }, {})).code, 'NOT_FOUND')
  assert.is((await expectFailure(context, { mode: 'sitemap' }, {})).code, 'UNAVAILABLE')
  assert.match((await expectFailure(context, { mode: 'sitemap' }, { '/': html('A page') })).message, 'is not a sitemap')
  assert.is((await expectFailure(context, { url: 'http://127.0.0.1:9/' })).code, 'PROVIDER_ERROR')
})

test('pages, sites, sitemaps and their redirects and links cannot reach the private network', async (context) => {
  const { site } = context
  for (const mode of ['page', 'site', 'sitemap'])
    for (const host of ['127.0.0.1', 'localhost', 'inner.test', '2130706433', '[::ffff:127.0.0.1]'])
      assert.is(
        (await expectFailure(context, { url: `http://${host}:${site.port}/`, mode, allow_private_network: false })).code,
        'ADDRESS_BLOCKED',
        host,
      )
  assert.is(site.connections, 0)
  const other = await startRecordingServer()
  site.pages = { '/': { status: 302, headers: { location: `http://0.0.0.0:${other.port}/` } } }
  for (const mode of ['page', 'site', 'sitemap']) assert.is((await expectFailure(context, { mode })).code, 'ADDRESS_BLOCKED')
  const found = await listDocuments(
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

test('a site is crawled breadth-first, up to the maximum depth, within its origin', async (context) => {
  const pages = {
    '/': html('Start', '/a', 'b', `${'http://elsewhere.test/'}`, 'mailto:x@example.com', 'javascript:void(0)', '/image.png', '#top'),
    '/a': html('A', '/a/deep', '/'),
    '/b': html('B', '/b/deep'),
    '/a/deep': html('A deep', '/a/deeper'),
    '/b/deep': html('B deep'),
    '/a/deeper': html('A deeper'),
  }
  assert.equal(paths(await listDocuments(context, { mode: 'site' }, pages)), ['/', '/a', '/b', '/a/deep', '/b/deep'])
  const visits = context.site.visits()
  // Pages of one depth are requested concurrently.
  assert.equal([visits.slice(0, 1), visits.slice(1, 3).sort(), visits.slice(3).sort()], [['/'], ['/a', '/b'], ['/a/deep', '/b/deep']])
  assert.equal(paths(await listDocuments(context, { mode: 'site', max_depth: 0 })), ['/'])
  assert.equal(paths(await listDocuments(context, { mode: 'site', max_depth: 1 })), ['/', '/a', '/b'])
  assert.equal(paths(await listDocuments(context, { mode: 'site', max_depth: 10 })).length, 6)
  assert.equal(paths(await listDocuments(context, { mode: 'site', max_depth: 10, max_pages: 3 })), ['/', '/a', '/b'])
})

test('cycles, fragments, tracking parameters and redirects do not duplicate documents', async (context) => {
  const pages = {
    '/': html('Start', '/a#one', '/a#two', '/a?utm_source=x&amp;utm_medium=y', '/a?fbclid=1', '/old', '/', '/index.html', '/a?page=2'),
    '/index.html': html(
      'Start',
      '/a#one',
      '/a#two',
      '/a?utm_source=x&amp;utm_medium=y',
      '/a?fbclid=1',
      '/old',
      '/',
      '/index.html',
      '/a?page=2',
    ),
    '/a': html('A', '/', '/a'),
    '/a?page=2': html('A, page 2'),
    '/old': { status: 301, headers: { location: '/a' } },
  }
  assert.equal(paths(await listDocuments(context, { mode: 'site' }, pages)), ['/', '/a', '/a?page=2'])
})

test('a page is named by its canonical URL, unless that is always the front page', async (context) => {
  const canonical = (address: string, body: string) => `<link rel="canonical" href="${address}">${body}`
  const pages = {
    '/': html('Start', '/print/a', '/a', '/b', '/far'),
    '/print/a': canonical('/a', html('A, printed')),
    '/a': canonical('/a', html('A')),
    '/b': canonical('/', html('B')),
    '/far': canonical('http://elsewhere.test/far', html('Far')),
  }
  assert.equal(paths(await listDocuments(context, { mode: 'site' }, pages)), ['/', '/a', '/b', '/far'])
})

test('a page of a site that cannot be fetched has a problem, and the others are read', async (context) => {
  const pages = {
    '/': html('Start', '/gone', '/broken', '/closed', '/ok', '/file'),
    '/broken': { status: 500 },
    '/closed': { status: 401 },
    '/ok': html('Fine'),
    '/file': { headers: { 'content-type': 'application/x-7z-compressed' }, body: '7z' },
  }
  const found = await listDocuments(context, { mode: 'site' }, pages)
  assert.equal(
    found.map(({ name, problem }) => [new URL(name).pathname, /status (\d+)/.exec(problem ?? '')?.[1]]),
    [
      ['/', undefined],
      ['/gone', '404'],
      ['/broken', '500'],
      ['/closed', '401'],
      ['/ok', undefined],
    ],
  )
})

test('a crawl respects robots.txt and fetches it once', async (context) => {
  const robots = 'User-agent: other\nDisallow: /\n\nUser-agent: *\nDisallow: /private\nAllow: /private/open$\nDisallow: /*.pdf$\n'
  const pages = {
    '/robots.txt': { headers: { 'content-type': 'text/plain' }, body: robots },
    '/': html('Start', '/private/a', '/private/open', '/x.pdf', '/b'),
    '/private/open': html('Open'),
    '/b': html('B'),
  }
  assert.equal(paths(await listDocuments(context, { mode: 'site' }, pages)), ['/', '/private/open', '/b'])
  assert.is(context.site.requests.filter(({ url }) => url === '/robots.txt').length, 1)
  assert.not.ok(context.site.visits().some((url) => url === '/private/a' || url === '/x.pdf'))
  assert.is(
    (await expectFailure(context, { mode: 'site' }, { ...pages, '/robots.txt': 'User-agent: Cadre\nDisallow: /\n' })).code,
    'FORBIDDEN',
  )
  assert.is((await expectFailure(context, { mode: 'site' }, { ...pages, '/robots.txt': { status: 503 } })).code, 'UNAVAILABLE')
  assert.is((await listDocuments(context, { mode: 'page' }, { ...pages, '/robots.txt': 'User-agent: *\nDisallow: /\n' })).length, 1)
})

test('a crawl makes two concurrent requests, not more', async (context) => {
  const barrier = new Barrier(2)
  const { site } = context
  site.pages = { '/': html('Start', ...Array.from({ length: 12 }, (_, at) => `/${at}`)) }
  for (let at = 0; at < 12; at++) site.pages[`/${at}`] = html(`Page ${at}`)
  const respond = site.listener
  site.listener = async (request, reply) => {
    if (/^\/\d+$/.test(request.url ?? '')) await barrier.pass()
    respond(request, reply)
  }
  const found = await listDocuments(context, { mode: 'site' })
  assert.equal([found.length, barrier.most], [13, 2])
  assert.equal(paths(found).slice(1, 4), ['/0', '/1', '/2'], 'in the order of the links')
})

test('an endless site stops at the maximum number of pages', async (context) => {
  context.site.pages = new Proxy({} as Pages, {
    get: (_, path: string) => (path === '/robots.txt' ? undefined : html(`Page ${path}`, `${path}x`, `${path}y`)),
  })
  assert.is((await listDocuments(context, { mode: 'site', max_depth: 10, max_pages: 25 })).length, 25)
})

test('a crawl stops on abort and when its consumer stops', async (context) => {
  const { site, work, outbound } = context
  site.pages = { '/': html('Start', '/a', '/slow'), '/a': html('A'), '/slow': { silent: true } }
  const configuration = { url: site.origin, mode: 'site', allow_private_network: true }
  for await (const { name } of findDocuments('url', { configuration, signal, workDirectory: work, outbound }))
    if (name.endsWith('/a')) break
  const ending = new AbortController()
  try {
    for await (const { name } of findDocuments('url', { configuration, signal: ending.signal, workDirectory: work, outbound }))
      if (name.endsWith('/a')) ending.abort(new Error('enough'))
    assert.unreachable()
  } catch (error) {
    assert.is((error as Error).message, 'enough')
  }
})

test.run()
