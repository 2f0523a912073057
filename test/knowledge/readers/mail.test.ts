import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type ExpandedDocument, expandContainer } from '../../../daemon/knowledge/readers/containers/expand-container.ts'
import { read, readOutcome } from './read-fixture.ts'
import { readSample } from './samples.ts'

const test = suite('mails')

async function expand(bytes: Uint8Array, name: string): Promise<ExpandedDocument[]> {
  const documents: ExpandedDocument[] = []
  for await (const document of expandContainer(bytes, name, {})) documents.push(document)
  return documents
}
const toText = (document: ExpandedDocument | undefined) => Buffer.from(document?.bytes ?? []).toString()
const mail = (...lines: string[]) => lines.join('\r\n')

test('a mail has its subject, sender, recipients, date and attachments, and its place is the mail', async () => {
  const { text, title, places } = await read(readSample('reply.eml'), 'reply.eml')
  assert.is(title, 'Re: Frühjahrsplanung – budget for the café')
  assert.match(text, /^# Re: Frühjahrsplanung – budget for the café\n\nFrom: Jürgen Müller <juergen@example\.org>\nTo: Anna Schmidt/)
  assert.match(text, 'Date: Tuesday, 5 March 2024, 10:15 +01:00')
  assert.match(text, 'Attachments: prices.csv, Anfahrt für Lieferanten.txt')
  assert.equal(places, { kind: 'mail', names: ['Re: Frühjahrsplanung – budget for the café, Jürgen Müller, 2024-03-05'] })
})

test('a reply does not repeat the mail that it quotes', async () => {
  const { text } = await read(readSample('reply.eml'), 'reply.eml')
  assert.match(text, 'costs 4,250 euros')
  assert.not.match(text, /oven was repaired|wrote/)
})

test('attachments are documents', async () => {
  const documents = await expand(readSample('reply.eml'), 'reply.eml')
  assert.equal(
    documents.map(({ path }) => path),
    ['prices.csv', 'Anfahrt für Lieferanten.txt'],
  )
  assert.is(toText(documents[1]), 'Lieferung über Tor 3, Code 7741.')
})

test('a mail with only an HTML part is read with its tables', async () => {
  const { text } = await read(readSample('newsletter.eml'), 'newsletter.eml')
  assert.match(text, 'The library closes at 16:00 in July. Café and garden stay open.')
  assert.match(text, '| Monday | 10–16 |')
})

test('the HTML part is read if the plain one says little', async () => {
  const parts = ['--b', 'Content-Type: text/plain', '', 'See the web.', '--b', 'Content-Type: text/html', '']
  const page = '<p>The ferry to the island leaves at seven, and the last one returns at nine.</p>'
  const header = ['Subject: Ferry', 'From: a@example.com', 'Content-Type: multipart/alternative; boundary=b', '']
  assert.match((await read(mail(...header, ...parts, page, '--b--'), 'a.eml')).text, 'leaves at seven')
})

test('quotes that are answered line by line are kept, and so is a forwarded mail', async () => {
  const inline = mail('Subject: Re: Questions', 'From: a@example.com', '', '> How old?', 'Seven.', '> Which colour?', 'Red.')
  assert.match((await read(inline, 'a.eml')).text, /How old[\s\S]*Seven[\s\S]*Which colour[\s\S]*Red/)
  const forwarded = mail(
    'Subject: Fwd: Lease',
    'From: a@example.com',
    '',
    'See below.',
    '',
    'From: b@example.com',
    'To: c',
    'Subject: Lease',
    '',
    '640 euros',
  )
  assert.match((await read(forwarded, 'a.eml')).text, '640 euros')
})

test('a mail that consists of quotes only keeps them', async () => {
  assert.match((await read(mail('Subject: x', 'From: a@example.com', '', '> The only text.'), 'a.eml')).text, 'The only text.')
})

test('a mailbox has one document per mail, with its attachments', async () => {
  const documents = await expand(readSample('inbox.mbox'), 'inbox.mbox')
  assert.equal(
    documents.map(({ path }) => path),
    [
      '2024-04-12 Keys for the boat house (Mia Torres).eml',
      '2024-04-13 Re: Keys for the boat house (Tom Berg).eml',
      '2024-04-13 Re: Keys for the boat house (Tom Berg).eml/tides.md',
      '2024-04-14 Regatta (Mia Torres).eml',
    ],
  )
  const { text } = await read(documents[0]?.bytes ?? '', documents[0]?.path ?? '')
  // mailbox escapes this line, which does not start a mail
  assert.match(text, '\nFrom Monday on, the code of the gate is 5190.')
  assert.match((await read(readSample('inbox.mbox'), 'inbox.mbox')).text, '3 mails:\n\n- 2024-04-12 Keys for the boat house (Mia Torres)')
})

test('a mailbox is read whatever file types a source has; its attachments only if their type is one', async () => {
  const paths: string[] = []
  for await (const { path, skipReason } of expandContainer(readSample('inbox.mbox'), 'inbox.mbox', { file_types: ['mbox'] }))
    if (skipReason === undefined) paths.push(path)
  assert.is(paths.length, 3)
})

test('an Outlook message is read with its attachments, also messages', async () => {
  const { text, places } = await read(readSample('lease.msg'), 'lease.msg')
  assert.match(text, 'From: Priya Nair <priya@example.com>\nTo: Otto Kern; Sara Ilić\nDate: Monday, 6 May 2024, 07:45 +00:00')
  assert.match(text, 'ends on 31 October')
  assert.not.match(text, 'When does the lease end?')
  assert.equal(places, { kind: 'mail', names: ['Lease of the workshop, Priya Nair, 2024-05-06'] })
  const documents = await expand(readSample('lease.msg'), 'lease.msg')
  const offer = documents.find(({ path }) => path === 'Old offer.eml')
  assert.match((await read(offer?.bytes ?? '', 'Old offer.eml')).text, /Date: Monday, 9 January 2023, 12:00[\s\S]*990 euros/)
  assert.match(toText(documents.find(({ path }) => path === 'floor plan.txt')), '84 square metres')
})

test('a mail cut at any tenth of its length is read as far as it goes or has a reason', async () => {
  for (const name of ['reply.eml', 'newsletter.eml', 'inbox.mbox', 'lease.msg']) {
    const whole = readSample(name)
    for (let tenth = 0; tenth < 10; tenth++) {
      const part = whole.slice(0, Math.floor((whole.length * tenth) / 10))
      assert.type(await readOutcome(part, name), 'string')
      try {
        await expand(part, name)
      } catch (error) {
        assert.is((error as Error).name, 'DocumentReadError', `${name} ${tenth}: ${error}`)
      }
    }
  }
})

test('encrypted mails, deep mails and files that are no mails have a reason', async () => {
  const header = ['Subject: x', 'From: a@example.com']
  const encrypted = mail(
    ...header,
    'Content-Type: multipart/encrypted; boundary=b',
    '',
    '--b',
    'Content-Type: application/pgp-encrypted',
    '',
    'x',
    '--b--',
  )
  assert.is(await readOutcome(encrypted, 'a.eml'), 'The mail is encrypted.')
  const deep = Array.from({ length: 50 }, (_, level) =>
    mail(`Content-Type: multipart/mixed; boundary=b${level}`, '', `--b${level}`, ''),
  ).join('')
  assert.match(await readOutcome(mail(...header, deep), 'a.eml'), 'nested too deeply')
  const many = mail(...header, 'Content-Type: multipart/mixed; boundary=b', '', '--b\r\n\r\nx\r\n'.repeat(10_001))
  assert.match(await readOutcome(many, 'a.eml'), 'more than 10000 parts')
  assert.match(await readOutcome(mail('Colour: red', '', 'x'), 'a.eml'), 'This is not a mail')
  assert.match(await readOutcome(`Subject: ${'a'.repeat(2_000_000)}\n\nx`, 'a.eml'), 'header is too long')
  assert.match(await readOutcome('just a text', 'a.mbox'), 'read: just a text')
})

test('an Outlook message with cycles in its tables has a reason', async () => {
  const sample = readSample('lease.msg')
  for (let sector = 0; sector < sample.length / 512 - 1; sector++) {
    const cyclic = Buffer.from(sample)
    // Every entry of the sector points to the sector itself.
    for (let offset = 0; offset < 512; offset += 4) cyclic.writeUInt32LE(sector, (sector + 1) * 512 + offset)
    assert.type(await readOutcome(cyclic, 'a.msg'), 'string')
  }
})

test.run()
