import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { extractLinks } from '../../../daemon/knowledge/sources/web/extract-links.ts'
import { resolvePageUrl } from '../../../daemon/knowledge/sources/web/page-url.ts'
import { parseRobots } from '../../../daemon/knowledge/sources/web/parse-robots.ts'

const test = suite('links, robots and addresses')

test('links, title, canonical URL and base are extracted from real-world markup', () => {
  const found = extractLinks(`<HTML><head><TITLE lang=en>
    One &lt;page&gt; </TITLE><base href='/docs/'><link href="/c" REL="alternate Canonical">
    <meta http-equiv="refresh" content="0; URL='next.html'"></head>
    <A CLASS="x" HREF = "a?x=1&amp;y=2">a</A><a href=b>b</a><a href='c d'>c</a><a name="none">n</a><area href=/map>
    <!-- <a href="/commented">x</a> --> <script>var s = '<a href="/scripted">'</script><style>a[href="/styled"]{}</style>
    <a title="a > b" href="/quoted">q</a> <frame src="/frame"> 1 < 2 <p <a href="/nested">`)
  assert.is(found.title, 'One <page>')
  assert.is(found.canonical, '/c')
  assert.is(found.base, '/docs/')
  assert.equal(found.links, ['next.html', 'a?x=1&y=2', 'b', 'c d', '/map', '/quoted', '/frame', '/nested'])
})

test('a megabyte of hostile markup has no links, or few', () => {
  const hostile = ['<', '<a ', '<a href="', "<a href='", '<!--', '<title>', '<script>', '<a b=', ' ', '&', '<a href=x', '<a\t', '<a ="']
  for (const part of hostile)
    for (const start of ['', '<a']) assert.ok(extractLinks(start + part.repeat(1_000_000 / part.length)).links.length < 1_000_000, part)
})

test('robots.txt rules follow RFC 9309: groups, longest match, wildcards and anchors', () => {
  const allows = (text: string, path: string) => parseRobots(text).isAllowed(`http://site.test${path}`)
  assert.ok(allows('', '/a'))
  assert.ok(allows('User-agent: *\nDisallow:\n', '/a'))
  assert.not.ok(allows('\ufeffUser-Agent: * # all\r\nDisallow: / # everything\r\n', '/a'))
  assert.ok(allows('User-agent: *\nDisallow: /\n\nUser-agent: cadre\nDisallow: /x\n', '/a'))
  assert.not.ok(allows('User-agent: a\nUser-agent: CADRE\nDisallow: /x\n', '/x/y'))
  assert.ok(allows('User-agent: *\nDisallow: /a\nAllow: /a/b\n', '/a/b/c'))
  assert.ok(allows('User-agent: *\nDisallow: /a\nAllow: /a\n', '/a'))
  assert.not.ok(allows('User-agent: *\nDisallow: /*/edit$\n', '/page/edit'))
  assert.ok(allows('User-agent: *\nDisallow: /*/edit$\n', '/page/edit/more'))
  assert.not.ok(allows('User-agent: *\nDisallow: /*?sort=\n', '/list?page=1&x?sort=2'))
  assert.not.ok(allows('User-agent: *\nDisallow: /ü\n', '/ü/x'))
  assert.is(parseRobots('User-agent: *\nCrawl-delay: 2.5\n').crawlDelay, 2.5)
  const slow = parseRobots(`User-agent: *\nDisallow: /${'*a'.repeat(5_000)}$\n`)
  assert.ok(slow.isAllowed(`http://site.test/${'a'.repeat(4_000)}`))
})

test('page URLs are normalized, and links to other files are dropped', () => {
  const base = 'https://site.test/docs/'
  const same = [
    'https://site.test/docs/a',
    'a',
    './a#x',
    '/docs/../docs/a',
    'HTTPS://SITE.test:443/docs/a?utm_campaign=x',
    ' a?gclid=1&fbclid=2 ',
    'https://site.test./docs/a',
  ]
  for (const link of same) assert.is(resolvePageUrl(link, base), 'https://site.test/docs/a', link)
  assert.is(resolvePageUrl('a?b&c=1', base), 'https://site.test/docs/a?b&c=1')
  assert.is(resolvePageUrl('a?b=1&utm_id=2', base), 'https://site.test/docs/a?b=1')
  for (const link of [
    '',
    'mailto:a@b.test',
    'javascript:1',
    'data:text/html,x',
    'ftp://site.test/',
    'https://u:p@site.test/',
    'a.PNG',
    'x.tar.gz',
    'http://[bad',
    'x'.repeat(3_000),
  ])
    assert.is(resolvePageUrl(link, base), undefined, link)
  assert.ok(resolvePageUrl('release-1.2', base) && resolvePageUrl('a.html', base) && resolvePageUrl('a.pdf', base))
})

test.run()
