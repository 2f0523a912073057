import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { read, readOutcome } from './read-fixture.ts'
import { readSample } from './samples.ts'

const test = suite('text formats')
const readText = async (name: string) => (await read(readSample(name), name)).text

test('a notebook has the text, code and output of each cell, and its places are cells', async () => {
  const { text, pages, places, title } = await read(readSample('rainfall.ipynb'), 'rainfall.ipynb')
  assert.is(title, 'Rainfall')
  assert.equal(places, { kind: 'cell' })
  assert.equal(
    pages.map(({ number }) => number),
    [1, 2, 3, 4],
  )
  assert.match(text.slice(pages[1]?.start), /^```python\nrain = load\('bergen.csv'\)[\s\S]*months: 12/)
  assert.match(text.slice(pages[2]?.start), 'mean    204.6 mm')
  assert.match(text.slice(pages[3]?.start), "KeyError: 'snow'")
  assert.not.match(text, 'iVBOR')
})

test('a notebook of version 3 is read', async () => {
  const cells = [
    { cell_type: 'heading', level: 2, source: 'Old' },
    { cell_type: 'code', input: ['print(7)'], outputs: [{ output_type: 'stream', text: '7' }] },
  ]
  assert.match((await read(JSON.stringify({ worksheets: [{ cells }] }), 'a.ipynb')).text, /^## Old[\s\S]*print\(7\)[\s\S]*7/)
})

test('subtitles are paragraphs with their time and speaker', async () => {
  assert.is(
    await readText('talk.srt'),
    '[00:00:01] Welcome to the talk about beavers. They build dams of wood and mud.\n\n[00:01:30] A lodge has two entrances under water.',
  )
  assert.is(await readText('talk.vtt'), '[00:00:01] Ida: How old do beavers get? Sam: About ten years in the wild.')
})

test('Org files have headings, lists, tables and code', async () => {
  const text = await readText('plan.org')
  assert.match(text, /^# Moving plan\n[\s\S]*\n## TODO Kitchen :move:\n[\s\S]*See his page\.\n### Boxes\n {3}- plates/)
  assert.match(text, "| kitchen |    14 |\n```sh\necho '* not a heading'\n```")
  assert.not.match(text, /PROPERTIES|a comment/)
})

test('AsciiDoc has headings, lists, tables and code', async () => {
  const text = await readText('guide.adoc')
  assert.match(text, /^# Server guide\n[\s\S]*\n## Restart\n[\s\S]*control panel \(https:\/\/example\.com\/panel\)/)
  assert.match(text, '```sh\nsystemctl restart web\n== not a heading\n```')
  assert.match(text, '| Service | Port |\n| --- | --- |\n| web | 8443 |')
  assert.not.match(text, /a comment|:toc:/)
})

test('LaTeX has sections, lists and formulas, without commands', async () => {
  const text = await readText('paper.tex')
  assert.match(text, /^# On the Flight of Terns\n\nR\. Högberg\n\n## Methods\n\nWe tagged 61 birds \(With rings\.\) near Tromsø in 2019/)
  assert.match(text, /\$v = 11\.3\\,\\mathrm\{m\/s\}\$, i\.e\. fast\./)
  assert.match(text, '### Sites\n\n- North cape\n- South: the harbour')
  assert.match(text, '| cape | 40 |')
  assert.not.match(text, /not shown|documentclass|sec:methods/)
})

test('a man page has its sections and options', async () => {
  const { text, title } = await read(readSample('backup.1'), 'backup.1')
  assert.is(title, 'BACKUP(1)')
  assert.match(text, /^# BACKUP\(1\)\n\n## NAME\n\nbackup - copy folders to a disk\n\n## SYNOPSIS\n\nbackup \[-v\] folder\n/)
  assert.match(text, '- --keep days:\nDelete copies that are older than days. The default is 30 days.')
  assert.match(text, '```\n    backup --keep 14 ~/photos\n```')
  assert.not.match(text, /\\/)
})

test('a man page with mdoc macros is read', async () => {
  const source =
    '.Dd May 1, 2024\n.Dt COPY 8\n.Sh NAME\n.Nm copy\n.Nd copies files\n.Sh SYNOPSIS\n' +
    '.Nm\n.Op Fl v Ar file\n.Bl -tag\n.It Fl v\nBe verbose.\n.El\n'
  assert.is(
    (await read(source, 'copy.8')).text,
    '# COPY(8)\n\n## NAME\n\ncopy copies files\n\n## SYNOPSIS\n\ncopy [-v file]\n\n- -v:\nBe verbose.',
  )
})

test('a file that only ends like a man page is read as text', async () => {
  assert.is((await read('Release notes of 1.2', 'notes-1.2')).text, 'Release notes of 1.2')
})

test('a calendar has its entries with times, places and people', async () => {
  const { text, title } = await read(readSample('club.ics'), 'club.ics')
  assert.is(title, 'Club')
  assert.match(
    text,
    '## Choir rehearsal\n\nWhen: Wednesday, 12 June 2024, 18:30–20:00 (Europe/Berlin)\nRepeats: every week on Wednesday 6 times',
  )
  assert.match(
    text,
    'Where: Old Town Hall, room 4\nOrganizer: Eva Lind <eva@example.com>\n\nBring the sheets of the Requiem.\nTea is in the break.',
  )
  assert.match(text, '## Summer party\n\nWhen: Monday, 1 July 2024')
  assert.not.match(text, 'Reminder')
})

test('contacts have their names, addresses and numbers', async () => {
  const text = await readText('people.vcf')
  assert.match(
    text,
    /^## Dr\. Ada Okafor\n\nOrganization: Harbour Clinic, Surgery\nPhone \(cell\): \+49 151 555 0199\nEmail \(work\): ada@example\.org/,
  )
  assert.match(text, 'Birthday: 1984-02-29\nNote: Allergic to penicillin, speaks Igbo.\n\n## Jörg Müller\n\nPhone (home): 030 555 0142')
  assert.not.match(text, '4AAQ')
})

test('files cut at any tenth of their length are read as far as they go or have a reason', async () => {
  for (const name of [
    'rainfall.ipynb',
    'talk.srt',
    'talk.vtt',
    'plan.org',
    'guide.adoc',
    'paper.tex',
    'backup.1',
    'club.ics',
    'people.vcf',
  ]) {
    const whole = readSample(name)
    for (let tenth = 0; tenth < 10; tenth++) assert.type(await readOutcome(whole.slice(0, (whole.length * tenth) / 10), name), 'string')
  }
  assert.match(await readOutcome(readSample('rainfall.ipynb').slice(0, 500), 'a.ipynb'), 'truncated or damaged')
  assert.match(await readOutcome('{}', 'a.ipynb'), 'This is not a notebook')
})

const ATTACKS = [
  '<',
  '<v ',
  '<v.',
  '{\\',
  '[[',
  '[[a][',
  '*',
  '* ',
  '#+begin_src\n',
  'link:a[',
  '<<',
  '|',
  ' |',
  ' 1',
  '\\cite[',
  '\\footnote{',
  '\\begin{',
  '$',
  '\\\\[',
  '\\"',
  '.B "',
  '.SH\n',
  '\\f[',
  '\\(',
  'a;b=',
  'BEGIN:VEVENT\n',
  'A;B="',
  ';',
  '=\n',
  '>',
  '> ',
  '=?',
  '=?a?q?',
  '--b\n',
  '(',
  ': ',
]

// Would not end if a pattern needed quadratic time.
test('repetitive malformed input is read or has a reason in every text format', async () => {
  const starts: Record<string, string> = {
    'a.srt': '00:00:01,000 --> 00:00:02,000\n',
    'a.org': '',
    'a.adoc': '',
    'a.tex': '',
    'a.1': '.SH NAME\n',
    'a.ics': 'BEGIN:VEVENT\nSUMMARY:',
    'a.vcf': 'BEGIN:VCARD\nFN:',
    'a.eml': 'Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n',
  }
  for (const attack of ATTACKS)
    for (const [name, start] of Object.entries(starts))
      assert.type(await readOutcome(start + attack.repeat(30_000 / attack.length), name), 'string')
})

test.run()
