/** Detects the type of a document by its content first and by its name second. */
import { extname } from 'node:path'
import { isConfigName } from '../../language/classify-config-line.ts'
import { CODE_EXTENSIONS } from '../../language/code-extensions.ts'
import { COMPOUND_FILE_MAGIC } from './containers/container-kind.ts'
import { toBuffer } from './encoding/decode-text.ts'

type FileKind = 'pdf' | 'zip' | 'compound-file' | 'rtf' | 'text' | { unsupported: string }
type TextKind = 'html' | 'markdown' | 'rst' | 'table' | 'json' | 'lines' | 'code' | 'config' | 'plain'

/** First bytes (hexadecimal) of binary formats. */
const MAGIC_NUMBERS: [string, string][] = [
  ['89504e47', 'a PNG image'],
  ['47494638', 'a GIF image'],
  ['52494646', 'an audio, video or image file'],
  ['1f8b', 'a compressed file'],
  ['425a68', 'a compressed file'],
  ['fd377a585a00', 'a compressed file'],
  ['28b52ffd', 'a compressed file'],
  ['377abcaf271c', 'a 7-Zip archive'],
  ['526172211a07', 'a RAR archive'],
  ['7f454c46', 'a program'],
  ['4d5a9000', 'a program'],
  ['cafebabe', 'a program'],
  ['0061736d', 'a program'],
  ['53514c69746520666f726d617420', 'a SQLite database'],
  ['494433', 'an audio file'],
  ['4f676753', 'an audio or video file'],
  ['1a45dfa3', 'a video file'],
  ['774f4646', 'a font'],
  ['774f4632', 'a font'],
]
const HEIC_BRANDS = new Set(['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'])

export function detectFileKind(bytes: Uint8Array): FileKind {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1_024))
  const hex = head.toString('hex', 0, 16)
  if (isPdf(bytes, head)) return 'pdf'
  if (hex.startsWith('504b0304') || hex.startsWith('504b0506') || hex.startsWith('504b0708')) return 'zip'
  if (hex.startsWith(COMPOUND_FILE_MAGIC)) return 'compound-file'
  if (head.toString('latin1', 0, 5) === '{\\rtf') return 'rtf'
  if (head.toString('latin1', 4, 8) === 'ftyp') return { unsupported: describeMediaFile(head.toString('latin1', 8, 12)) }
  const magic = MAGIC_NUMBERS.find(([start]) => hex.startsWith(start))
  return magic ? { unsupported: `This is not a text document; it is ${magic[1]}.` } : 'text'
}

/** @param brand the main brand of an ISO media file */
function describeMediaFile(brand: string): string {
  if (HEIC_BRANDS.has(brand)) return 'HEIC images are not supported. Convert it to JPEG.'
  return 'This is not a text document; it is a video or image file.'
}

/** The header may follow a few other bytes; a text that only mentions it has no PDF objects. */
function isPdf(bytes: Uint8Array, head: Buffer): boolean {
  const index = head.indexOf('%PDF-')
  if (index <= 0) return index === 0
  const file = toBuffer(bytes)
  return file.includes('endobj') || file.includes('startxref')
}

/** Binary data decodes to many control and replacement characters. */
export function isBinary(text: string): boolean {
  const sample = text.slice(0, 65_536)
  const controlCount = sample.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f\ufffd]/g)?.length ?? 0
  return controlCount > sample.length / 20
}

const EXTENSIONS_BY_KIND: Record<Exclude<TextKind, 'config'>, string> = {
  html: 'html htm xhtml',
  markdown: 'md markdown mdx mkd qmd rmd',
  rst: 'rst rest',
  table: 'csv tsv tab',
  json: 'json geojson webmanifest',
  lines: 'jsonl ndjson',
  code: CODE_EXTENSIONS,
  plain: 'txt text log',
}
const KIND_BY_EXTENSION = new Map(
  Object.entries(EXTENSIONS_BY_KIND).flatMap(([kind, extensions]) =>
    extensions.split(' ').map((extension) => [extension, kind as TextKind]),
  ),
)

/** Headings right above each other are rare. */
const MAX_COMMENT_SHARE = 0.3

export function detectTextKind(text: string, name: string): TextKind {
  const kind = detectKindByName(name)
  if (kind === 'html' || (!['markdown', 'code', 'config'].includes(kind ?? '') && isHtml(text))) return 'html'
  if (kind !== undefined && kind !== 'plain') return kind
  // .txt files often contain Markdown. In configuration files and scripts, the marks of headings start comments, often of several lines.
  const sample = text.slice(0, 200_000)
  const headings = sample.match(/^#{1,4} \S/gm)?.length ?? 0
  if (headings < 3 || text.startsWith('#!')) return 'plain'
  const comments = sample.match(/^# ?\S.*\n(?=#)/gm)?.length ?? 0
  return comments > headings * MAX_COMMENT_SHARE ? 'config' : 'markdown'
}

/** The extension .txt is often added to configuration files and tables: redis.conf.txt. */
function detectKindByName(name: string): TextKind | undefined {
  if (isConfigName(name)) return 'config'
  const getKind = (file: string) => KIND_BY_EXTENSION.get(extname(file).slice(1).toLowerCase())
  const kind = getKind(name) ?? KIND_BY_EXTENSION.get(name.toLowerCase().replace(/^.*\//, ''))
  return kind === 'plain' && getKind(name.slice(0, -extname(name).length)) === 'table' ? 'table' : kind
}

function isHtml(text: string): boolean {
  return /^(?:(?:<!--(?:[^-]|-(?!->)){0,2000}-->|<\?xml[^>]{0,200}>)\s*){0,20}<(?:!doctype html|html|head|body)[\s>]/i.test(
    text.slice(0, 4_096).trimStart(),
  )
}
