import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generatePassages, type Passage } from '../../../daemon/knowledge/chunking/chunk-document.ts'
import type { ParsedDocument } from '../../../daemon/knowledge/readers/parsed-document.ts'

const test = suite('sections and passages')

const document = (text: string): ParsedDocument => ({ text, format: 'markdown', pages: [], title: null })
const chunk = (text: string, size = 800, overlap = 120) => [...generatePassages(document(text), { size, overlap })]
const summarize = (passages: Passage[]) => passages.map(({ headings, content }) => [headings.join(' › '), content])
const fill = (word: string, length: number) => `${`${word} is described here. `.repeat(Math.ceil(length / (word.length + 20)))}`.trim()

test('a section with its subsections is one passage if they fit', () => {
  const [install, usage] = [
    '## Install\n\nRun npm.\n\n### Linux\n\nUse apt.\n\n### macOS\n\nUse brew.',
    `## Usage\n\n${fill('Usage', 400)}`,
  ]
  assert.equal(summarize(chunk(`# Manual\n\nThe manual of the tool.\n\n${install}\n\n${usage}`, 450)), [
    ['Manual', '# Manual\n\nThe manual of the tool.'],
    ['Manual › Install', install],
    ['Manual › Usage', usage],
  ])
})

test('siblings are not merged with each other when their parent does not fit', () => {
  const parts = Array.from({ length: 12 }, (_, index) => `### option${index}\n\nThe default of this option is ${index} seconds.`)
  const passages = chunk(`## Options\n\n${fill('Options', 700)}\n\n${parts.join('\n\n')}`)
  assert.equal(
    summarize(passages.slice(1)),
    parts.map((part, index) => [`Options › option${index}`, part]),
  )
})

test('sections without a common parent stay apart', () => {
  assert.equal(summarize(chunk('## One\n\nFirst text.\n\n## Two\n\nSecond text.')), [
    ['One', '## One\n\nFirst text.'],
    ['Two', '## Two\n\nSecond text.'],
  ])
})

test('a heading without text of its own starts the passage of its first subsection', () => {
  const [first, second] = [`### get\n\n${fill('Get', 400)}`, `### put\n\n${fill('Put', 400)}`]
  assert.equal(summarize(chunk(`# API\n\n## Methods\n\n${first}\n\n${second}`, 500)), [
    ['API › Methods › get', `# API\n\n## Methods\n\n${first}`],
    ['API › Methods › put', second],
  ])
})

test('the overlap of a passage never leaves its section', () => {
  const text = Array.from({ length: 6 }, (_, index) => `## Part${index}\n\n${fill(`Part${index}`, 700)}`).join('\n\n')
  for (const { content, headings } of chunk(text, 300, 140)) {
    assert.is(headings.length, 1)
    assert.equal(new Set(content.match(/Part\d/g)), new Set(headings))
  }
})

test('the last passage of a section is not a short rest', () => {
  const sentence = 'This is a sentence of about fifty characters, okay. '
  for (const { content } of chunk(`# A\n\n${sentence.repeat(17)}\n\n# B\n\n${sentence.repeat(16)}`, 800, 0)) assert.ok(content.length > 120)
})

test('short front matter or a logo belongs to the first section, a longer introduction does not', () => {
  const section = `# Tool\n\n${fill('Tool', 300)}`
  const other = `# Other\n\n${fill('Other', 300)}`
  for (const start of ['---\ntitle: Tool\n---', '![Logo](logo.png)']) {
    const [first] = summarize(chunk(`${start}\n\n${section}\n\n${other}`, 400))
    assert.equal(first, ['Tool', `${start}\n\n${section}`])
  }
  const intro = fill('Introduction', 200)
  assert.equal(summarize(chunk(`${intro}\n\n${section}\n\n${other}`, 400))[0], ['', intro])
})

test('setext and HTML headings start sections', () => {
  const manual = `<h1 align="center">Manual</h1>\n\n${fill('Manual', 150)}`
  const text = `${manual}\n\nInstall\n-------\n\n${fill('Install', 200)}\n\nUsage\n=====\n\n${fill('Usage', 200)}`
  assert.equal(
    chunk(text, 300).map(({ headings }) => headings.join(' › ')),
    ['Manual', 'Manual › Install', 'Usage'],
  )
})

test('lines of code and HTML that look like headings are not headings', () => {
  const code = ['```sh\n# a comment\n```', '~~~\n# a comment\n```\n# another\n~~~', '    # indented', '<pre>\n\n# a comment\n\n</pre>']
  for (const block of [...code, '<script>\n# x\n</script>', '<style>\n# x {}\n</style>', '> # quoted', '\\# escaped', '#hashtag'])
    for (const { headings } of chunk(`# Real\n\nText before.\n\n${block}\n\n${fill('After', 900)}`)) assert.equal(headings, ['Real'], block)
  assert.equal(chunk('# Real\n\n```one line``` of code\n\n## Next\n\nText.', 40).at(-1)?.headings, ['Real', 'Next'])
})

test('headings contain no markup, anchors or images', () => {
  const titles = [
    ['<a id="x"></a>Body *limit*', 'Body limit'],
    ['Body limit <a name="x">here</a>', 'Body limit here'],
    ['`body_limit` and __dirname__ {#limit}', 'body_limit and dirname'],
    ['[Body](http://x) ![badge](http://b.svg)', 'Body'],
    ['`Array<string>`', 'Array<string>'],
    ['Body <!-- omit in toc -->', 'Body'],
  ]
  for (const [title, expected] of titles) assert.equal(chunk(`## ${title}\n\nText.`)[0]?.headings, [expected])
})

const heading = fc.tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 0, max: 500 }))

test('every passage has the headings of its section and ends before the next section of the same level', () => {
  fc.assert(
    fc.property(fc.array(heading, { minLength: 1, maxLength: 25 }), fc.integer({ min: 120, max: 900 }), (sections, size) => {
      const path: string[] = []
      const paths = sections.map(([level], index) => {
        path.length = level - 1
        path[level - 1] = `Heading${index}`
        return path.filter(Boolean)
      })
      const text = sections
        .map(([level, length], index) => `${'#'.repeat(level)} Heading${index}\n\n${fill(`text${index}`, length)}`)
        .join('\n\n')
      for (const { content, headings } of chunk(text, size, 60)) {
        const parts = [...new Set([...content.matchAll(/text(\d+)/g)].map(([, index]) => Number(index)))]
        for (const part of parts) assert.equal(paths[part]?.slice(0, headings.length), headings)
        // Several sections in a passage: it starts with the heading that they share.
        if (parts.length > 1) assert.match(content.split('\n')[0] ?? '', /^#/)
        if (parts.length > 1) assert.ok(content.includes(`${headings.at(-1)}\n`))
      }
    }),
    { numRuns: 200 },
  )
})

test('many headings, long lines and deep nesting are chunked', () => {
  const texts: ((count: number) => string)[] = [
    (count) => Array.from({ length: count }, (_, index) => `## Heading ${index}`).join('\n'),
    (count) => Array.from({ length: count }, (_, index) => `${'#'.repeat((index % 6) + 1)} Heading ${index}\n\ntext ${index}\n`).join('\n'),
    (count) => `# Title\n\n${'word '.repeat(count * 4)}\n\n## Next\n\nText.`,
    (count) => `<pre>\n${'# no heading\n'.repeat(count)}`,
    (count) => `${'> '.repeat(count * 10)}text`,
    (count) => 'Title\n---\n'.repeat(count),
  ]
  for (const create of texts) assert.ok(chunk(create(50_000)).length > 0, JSON.stringify(create(2)))
})

test.run()
