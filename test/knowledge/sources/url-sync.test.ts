import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as assert from 'uvu/assert'
import { collectDocuments, expectFailure, html, listDocuments, type Pages, paths, text, urlSuite } from './website.ts'

const test = urlSuite('url sources: repeated syncs and sitemaps')

test('unchanged pages are not downloaded again, and changed ones are', async (context) => {
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
  const first = await listDocuments(context, { mode: 'site' })
  const second = await listDocuments(context, { mode: 'site' })
  assert.equal(paths(second), ['/', '/a', '/b', '/c'])
  assert.equal(
    second.map(({ fingerprint }) => fingerprint),
    first.map(({ fingerprint }) => fingerprint),
  )
  assert.match(await text(second[1]), 'A 1')
  version = 2
  const third = await listDocuments(context, { mode: 'site' })
  assert.is.not(third[1]?.fingerprint, first[1]?.fingerprint)
  assert.match(await text(third[1]), 'A 2')
  assert.is(readdirSync(join(work, 'pages')).length, 8, 'four pages, a header and a body each')
  delete site.pages['/c']
  site.pages['/'] = html('Start again', '/b')
  assert.equal(paths(await listDocuments(context, { mode: 'site' })), ['/', '/b'])
  assert.is(readdirSync(join(work, 'pages')).length, 4)
})

test('a page with a damaged stored copy is fetched again', async (context) => {
  const { site, work } = context
  site.pages = {
    '/': (request) => (request.headers['if-none-match'] === '"1"' ? { status: 304 } : { headers: { etag: '"1"' }, body: html('Start') }),
  }
  const [before] = await listDocuments(context, {})
  for (const name of readdirSync(join(work, 'pages'))) if (!name.endsWith('.json')) writeFileSync(join(work, 'pages', name), 'damaged')
  const [after] = await listDocuments(context, {})
  assert.is(after?.fingerprint, before?.fingerprint)
  assert.match(await text(after), 'Start')
})

test('a server error keeps the stored page, and a removed page does not', async (context) => {
  const pages: Pages = { '/': html('Start', '/a', '/b'), '/a': html('A'), '/b': html('B') }
  await listDocuments(context, { mode: 'site' }, pages)
  const found = await listDocuments(context, { mode: 'site' }, { ...pages, '/a': { status: 502 }, '/b': { status: 410 } })
  assert.equal(
    found.map(({ problem }) => problem !== undefined),
    [false, false, true],
  )
  assert.match(await text(found[1]), 'A')
})

test('a request is repeated after the Retry-After delay', async (context) => {
  let asked = 0
  const found = await listDocuments(
    context,
    {},
    { '/': () => (asked++ === 0 ? { status: 429, headers: { 'retry-after': '0' } } : { body: html('Start') }) },
  )
  assert.equal([found.length, asked], [1, 2])
})

test('sitemaps may be nested, compressed or plain text, and are limited to their site', async (context) => {
  const { site } = context
  const urls = (...locations: string[]) => {
    const entries = locations.map((location) => `<url><loc> ${location} </loc><lastmod>2026-01-01</lastmod></url>`)
    return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`
  }
  const index = (...locations: string[]) =>
    `<sitemapindex>${locations.map((at) => `<sitemap><loc>${at}</loc></sitemap>`).join('')}</sitemapindex>`
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
  const found = await listDocuments(context, { url: at('/sitemap.xml'), mode: 'sitemap' })
  assert.equal(paths(found), ['/a', '/q?x=1&y=2', '/cdata', '/packed', '/missing', '/plain'])
  assert.equal(found.filter(({ problem }) => problem).length, 1)
  assert.equal(paths(await listDocuments(context, { url: at('/sitemap.xml'), mode: 'sitemap', max_pages: 2 })), ['/a', '/q?x=1&y=2'])
})

test('a nested sitemap that cannot be read is an error after the others have been read', async (context) => {
  const { site } = context
  site.pages = {
    '/s.xml': `<sitemapindex><loc>${site.origin}/gone.xml</loc><loc>${site.origin}/two.xml</loc></sitemapindex>`,
    '/two.xml': `<urlset><loc>${site.origin}/a</loc></urlset>`,
    '/a': html('A'),
  }
  const { found, error } = await collectDocuments(context, { url: `${site.origin}/s.xml`, mode: 'sitemap' })
  assert.equal([paths(found), error?.code], [['/a'], 'UNAVAILABLE'])
})

test('a compressed sitemap that exceeds the size limit is rejected', async (context) => {
  const bomb = gzipSync(Buffer.alloc(60 * 1024 * 1024))
  const error = await expectFailure(context, { mode: 'sitemap' }, { '/': { headers: { 'content-type': 'application/gzip' }, body: bomb } })
  assert.is(error.code, 'PAYLOAD_TOO_LARGE')
})

test.run()
