import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generatePassages } from '../../../daemon/knowledge/chunking/chunk-document.ts'
import { read } from '../readers/read-fixture.ts'

const test = suite('passages of configuration files and tables')

const chunk = async (source: string, name: string, size = 800, overlap = 120) =>
  [...generatePassages(await read(source, name), { size, overlap }, name)].map(({ headings, content }) => [headings.join(' › '), content])
const comment = (word: string, lines = 6) => `# This comment explains the setting ${word} in words.\n`.repeat(lines).trim()

test('banners and [sections] are headings below the file name', async () => {
  const network = `${comment('port')}\nport 6379`
  const files = `${comment('dir')}\ndir /data`
  assert.equal(await chunk(`# An example.\n\n##### NETWORK #####\n\n${network}\n\n#### FILES ####\n\n${files}`, 'redis.conf', 500), [
    ['redis.conf › NETWORK', `# An example.\n\n##### NETWORK #####\n\n${network}`],
    ['redis.conf › FILES', files],
  ])
  for (const banner of ['#------\n# FILES\n#------', ';;;;;;;;;;;;\n;; FILES ;;\n;;;;;;;;;;;;', '# - FILES -', '# ==== FILES ====']) {
    const [, files] = await chunk(`${comment('port', 12)}\nport = 1\n\n${banner}\n\n${comment('dir')}\ndir = /data`, 'a-server.conf.txt')
    assert.is(files?.[0], 'a-server.conf.txt › FILES', banner)
  }
  const section = `[database]\n${comment('pool')}\npool = 5`
  assert.equal((await chunk(`[server]\n${comment('port', 12)}\nport = 1\n\n${section}`, 'app.ini')).at(-1), ['app.ini › database', section])
})

test('a comment stays with the setting below it, and long comments are split between their paragraphs', async () => {
  const settings = ['one', 'two', 'three', 'four'].map((name) => `${comment(name)}\n${name} yes`)
  assert.equal(
    (await chunk(settings.join('\n\n'), 'redis.conf', 450)).map(([, content]) => content),
    settings,
  )
  const paragraphs = ['first', 'second', 'third'].map((word) => comment(word))
  assert.equal(
    (await chunk(`${paragraphs.join('\n#\n')}\nkey value`, 'redis.conf', 450)).map(([, content]) => content),
    [paragraphs[0], paragraphs[1], `${paragraphs[2]}\nkey value`],
  )
})

test('files that start with comments are configuration files, whatever their name', async () => {
  for (const name of ['sshd_config', 'sshd_config.txt', 'settings.txt', '.env', 'app.yaml', 'my.cnf', 'a.properties'])
    assert.is((await read(`${comment('a')}\na: 1`, name)).format, 'config', name)
})

test('a record of a table is never split if it fits', async () => {
  const rows = Array.from(
    { length: 50 },
    (_, index) => `BW-${index},Lamp number ${index},${'It is bright. '.repeat(index % 9)},${index} euros`,
  )
  const passages = await chunk(`sku,name,text,price\n${rows.join('\n')}`, 'lamps.csv', 300, 100)
  for (const [headings, content] of passages) {
    assert.is(headings, 'lamps.csv')
    for (const record of content?.split('\n\n') ?? [])
      assert.match(record, /^sku: BW-\d+\nname: [^\n]+\n(?:text: [^\n]+\n)?price: \d+ euros$/)
  }
})

test('the comments above a table are kept, and the last one can be its header', async () => {
  const { text } = await read('# Zones of the world.\n#\n#code\tzone\nAD\tEurope/Andorra\nNP\tAsia/Kathmandu\n', 'zones.tab')
  assert.is(text, '# Zones of the world.\n#\n#code\tzone\n\ncode: AD\nzone: Europe/Andorra\n\ncode: NP\nzone: Asia/Kathmandu')
  assert.match((await read('#ff0000,red\n#00ff00,green\n', 'colours.csv')).text, /#ff0000.*#00ff00/s)
})

test('the file name is the context of a document without headings, unless it means nothing', async () => {
  const getHeadings = async (name: string) => (await chunk('Leave is thirty days.', name))[0]?.[0]
  for (const name of ['debian.csv', 'docs/leave policy.txt']) assert.is(await getHeadings(name), name.replace(/^.*\//, ''))
  for (const name of [
    '5e4c01057a10732d_0.txt',
    '0-0.txt',
    '21645374.txt',
    '1f0c3a9e-beef-4d1c-81d7-aaaabbbbcccc.txt',
    'scan_001.txt',
    'IMG_0042.txt',
  ])
    assert.is(await getHeadings(name), '', name)
  assert.is(await getHeadings('leave.md'), '')
})

test('a huge configuration file or table is chunked', async () => {
  const sources = {
    'a-huge.conf': '#\n',
    'the-huge.conf': '# [a] ==== b\n',
    'huge.conf': '[a]\n',
    'huge.csv': 'a,b\n',
    'huge.tab': '#a\tb\n',
  }
  for (const [name, part] of Object.entries(sources)) {
    assert.ok((await chunk(`${part.repeat(200_000 / part.length)}x = 1`, name)).length > 0, name)
  }
})

test('thousands of tiny sections are put together into passages of normal size', async () => {
  const createFile = (count: number) => Array.from({ length: count }, (_, index) => `[s${index}]\na=1`).join('\n')
  assert.is((await chunk(createFile(20), 'app.ini', 100)).length, 20)
  const passages = await chunk(createFile(5_000), 'app.ini')
  assert.ok(passages.length < 100, String(passages.length))
  assert.equal(passages[0]?.[0], 'app.ini › s0')
  const text = passages.map(([, content]) => content).join('\n')
  assert.is(new Set(text.match(/^\[s\d+\]$/gm)).size, 5_000)
})

test.run()
