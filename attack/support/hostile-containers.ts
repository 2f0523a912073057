/** Archives, mails and other files made to exhaust memory or time. */
import { gzipSync } from 'node:zlib'
import { zip } from '../../test/knowledge/readers/document-fixtures.ts'
import { readSample } from '../../test/knowledge/readers/samples.ts'

const MB = 1024 * 1024

/** `large` is a number of characters, `deep` a number of levels. */
export function createHostileContainers(large: number, deep: number): Record<string, string | Uint8Array> {
  const repeat = (text: string) => text.repeat(Math.ceil(large / text.length))
  const blank = new Uint8Array(9 * MB)
  const attachment = Buffer.from(zip({ 'a.txt': new Uint8Array(64 * MB) })).toString('base64')
  const header = 'Subject: x\nFrom: a@example.com\n'
  const nested = Array.from(
    { length: Math.min(deep, 10_000) },
    (_, level) => `Content-Type: multipart/mixed; boundary=b${level}\n\n--b${level}\n`,
  )
  const cells = [{ cell_type: 'code', source: repeat('x = 1\n'), outputs: [{ output_type: 'stream', text: repeat('y') }] }]
  return {
    'bomb.zip': zip({ 'a.txt': new Uint8Array(64 * MB) }),
    'bombs.zip': zip(Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`${index}.txt`, blank]))),
    'bomb.txt.gz': gzipSync(new Uint8Array(64 * MB)),
    'bomb.tar.gz': gzipSync(new Uint8Array(256 * MB)),
    'nested.zip': nest(zip({ 'a.txt': 'inside' }), 20),
    'many.zip': zip(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`${index}.md`, 'x']))),
    'traversal.zip': zip({ '../../../../escaped.md': 'x', '/etc/escaped.md': 'x', 'C:\\escaped.md': 'x', ['n'.repeat(5_000)]: 'x' }),
    'encrypted.zip': readSample('secret.zip'),
    'text.zip': 'not an archive',
    'garbage.tgz': Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(100_000, 7)]),
    'deep.eml': header + nested.join(''),
    'parts.eml': `${header}Content-Type: multipart/mixed; boundary=b\n\n${repeat('--b\n\nx\n')}`,
    'header.eml': `Subject: ${repeat('=?utf-8?q?a?= ')}\n\nx`,
    'quotes.eml': `${header}\n${repeat('> a\n')}`,
    'page.eml': `${header}Content-Type: text/html\n\n${repeat('<blockquote type=cite>')}`,
    'attachment.eml': `${header}Content-Type: application/zip; name=a.zip\nContent-Transfer-Encoding: base64\n\n${attachment}`,
    'many.mbox': 'From a Mon Mar  4 10:15:00 2024\nSubject: x\n\nx\n\n'.repeat(2_000),
    'lines.mbox': `From a Mon Mar  4 10:15:00 2024\n\n${repeat('\nFrom ')}`,
    'cyclic.msg': createCyclicMessage(),
    'output.ipynb': JSON.stringify({ cells }),
    'deep.ipynb': `{"cells":${'['.repeat(deep)}${']'.repeat(deep)}}`,
    'cues.srt': repeat('1\n00:00:01,000 --> 00:00:02,000\n<i>x\n\n'),
    'brackets.org': repeat('[[').slice(0, 200_000),
    'brackets.adoc': repeat('link:a[').slice(0, 200_000),
    'commands.tex': repeat('\\cite[').slice(0, 200_000),
    'macros.1': `.SH NAME\n${repeat('.B "').slice(0, 200_000)}`,
    'events.ics': `BEGIN:VCALENDAR\n${repeat('BEGIN:VEVENT\n').slice(0, 200_000)}`,
    'cards.vcf': repeat('BEGIN:VCARD\nFN;A="x\n').slice(0, 200_000),
  }
}

function nest(inner: Uint8Array, levels: number): Uint8Array {
  return levels === 0 ? inner : nest(zip({ 'a.zip': inner, 'b.zip': inner }), levels - 1)
}

/** Every sector of the table and the directory points to itself. */
function createCyclicMessage(): Uint8Array {
  const bytes = Buffer.from(readSample('lease.msg'))
  for (let sector = 0; (sector + 2) * 512 <= bytes.length; sector++) if (sector % 3 === 0) bytes.writeUInt32LE(sector, (sector + 1) * 512)
  return bytes
}
