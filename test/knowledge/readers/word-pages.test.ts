import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { generatePassages } from '../../../daemon/knowledge/chunking/chunk-document.ts'
import { docx, paragraph } from './document-fixtures.ts'
import { read } from './read-fixture.ts'

const test = suite('pages and sections of Word documents')

const RENDERED = '<w:lastRenderedPageBreak/>'
const run = (content: string) => `<w:r>${content}</w:r>`
const text = (content: string) => `<w:t xml:space="preserve">${content}</w:t>`
const BREAK = '<w:br w:type="page"/>'

/** Returns the number of each page with the start of its text. */
async function readPages(body: string, parts: Record<string, string> = {}): Promise<[number, string][]> {
  const document = await read(docx(body, parts), 'a.docx')
  return document.pages.map(({ number, start }) => [number, document.text.slice(start).split('\n')[0] as string])
}

test('pages are those of the last layout', async () => {
  const next = (content: string) => `<w:p>${run(RENDERED + text(content))}</w:p>`
  const body = paragraph('One.') + next('Two.') + paragraph('Still two.') + next('Three.')
  assert.equal(await readPages(body), [
    [1, 'One.'],
    [2, 'Two.'],
    [3, 'Three.'],
  ])
})

test('manual page breaks count only in a document without a stored layout', async () => {
  const manual = `${paragraph('One.')}<w:p>${run(BREAK)}</w:p>${paragraph('Two.')}`
  assert.equal(await readPages(manual), [
    [1, 'One.'],
    [2, 'Two.'],
  ])
  assert.equal(await readPages(`${manual}<w:p>${run(RENDERED + text('Laid out.'))}</w:p>`), [
    [1, 'One.'],
    [2, 'Laid out.'],
  ])
  assert.equal(await readPages(paragraph('No breaks.')), [])
})

test('a paragraph with a page break before it and a section start pages', async () => {
  const section = (type: string) => `<w:sectPr>${type}<w:pgSz w:w="1"/></w:sectPr>`
  const body =
    paragraph('One.') +
    paragraph('Two.', '<w:pageBreakBefore/>') +
    paragraph('Not three.', '<w:pageBreakBefore w:val="0"/>') +
    paragraph('Columns.', section('<w:type w:val="continuous"/>')) +
    paragraph('End of two.', section('')) +
    paragraph('Three.')
  assert.equal(await readPages(body), [
    [1, 'One.'],
    [2, 'Two.'],
    [3, 'Three.'],
  ])
})

test('a manual break within a paragraph splits it, a rendered one does not', async () => {
  assert.equal(await readPages(`<w:p>${run(text('Before.') + BREAK + text('After.'))}</w:p>`), [
    [1, 'Before.'],
    [2, 'After.'],
  ])
  const flowing = `<w:p>${run(`${text('This sentence ')}${RENDERED}${text('goes on.')}`)}</w:p>${paragraph('Next.')}`
  assert.equal(await readPages(flowing), [
    [1, 'This sentence goes on.'],
    [2, 'Next.'],
  ])
})

test('pages start within lists and tables', async () => {
  const item = (content: string) => `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>${run(content)}</w:p>`
  assert.equal(await readPages(item(text('one')) + item(RENDERED + text('two')) + item(text('three'))), [
    [1, '- one'],
    [2, '- two'],
  ])
  const cell = (content: string) => `<w:tc><w:p>${run(content)}</w:p></w:tc>`
  const row = (name: string, mark = '') => `<w:tr>${cell(mark + text(name))}${cell(mark + text('days'))}</w:tr>`
  assert.equal(await readPages(`<w:tbl>${row('Name')}${row('Leave')}${row('Illness', RENDERED)}${row('Travel')}</w:tbl>`), [
    [1, '| Name | days |'],
    [2, '| Illness | days |'],
  ])
})

test('empty pages keep the numbers of later pages, and a break at the end starts no page', async () => {
  assert.equal(
    await readPages(`${paragraph('One.')}<w:p>${run(BREAK)}</w:p><w:p>${run(BREAK)}</w:p>${paragraph('Three.')}<w:p>${run(BREAK)}</w:p>`),
    [
      [1, 'One.'],
      [3, 'Three.'],
    ],
  )
})

test('control characters do not move pages', async () => {
  assert.equal(await readPages(`${paragraph('O&#127;ne.&#xfeff;')}<w:p>${run(RENDERED + text('Two.'))}</w:p>`), [
    [1, 'One.'],
    [2, 'Two.'],
  ])
})

test('passages know their page and section', async () => {
  const heading = (name: string, level = 1) => paragraph(name, `<w:pStyle w:val="Heading${level}"/>`)
  const leave = `${paragraph('Thirty days. '.repeat(20))}<w:p>${run(RENDERED + text('Days expire in March. '.repeat(10)))}</w:p>`
  const body = heading('Leave') + leave + heading('Travel') + paragraph('Second class. '.repeat(20))
  const passages = [...generatePassages(await read(docx(body), 'a.docx'), { size: 300, overlap: 0 })]
  const places = passages.map(({ content, page, headings }) => [content.match(/Thirty|expire|Second/)?.[0], page, headings.join(' › ')])
  assert.equal(places, [
    ['Thirty', 1, 'Leave'],
    ['expire', 2, 'Leave'],
    ['Second', 2, 'Travel'],
  ])
})

test('short bold paragraphs are headings in a document without heading styles', async () => {
  const bold = (content: string, value = '') => `<w:p>${run(`<w:rPr><w:b${value}/></w:rPr>${text(content)}`)}</w:p>`
  const body = bold('Leave') + paragraph('Thirty days.') + bold('Ask first!') + bold('Not bold', ' w:val="0"') + bold('Travel')
  assert.is((await read(docx(body), 'a.docx')).text, '## Leave\n\nThirty days.\n\nAsk first!\n\nNot bold\n\n## Travel')
  const styled = paragraph('Manual', '<w:outlineLvl w:val="0"/>') + body
  assert.match((await read(docx(styled), 'a.docx')).text, '# Manual\n\nLeave\n\nThirty days.')
})

test('thousands of page breaks are read', async () => {
  const count = 10_000
  const document = docx(
    `<w:p>${run((text('word ') + RENDERED).repeat(count))}</w:p>${`<w:p>${run(RENDERED)}</w:p>`.repeat(count)}${paragraph('End.')}`,
  )
  assert.is((await read(document, 'a.docx')).pages.at(-1)?.number, 2 * count + 1)
})

test.run()
