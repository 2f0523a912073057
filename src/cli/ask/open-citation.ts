/** Opens a cited document at the cited passage: in the pager, or in the program that the system uses for it. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type Paths, readEnvironmentVariable } from '../../config.ts'
import type { Citation } from '../../contract/schemas/messages.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import { openWithSystem } from '../terminal/open-with-system.ts'
import { sanitizeLine, sanitizeText } from '../terminal/text.ts'
import { formatLocation } from './format-location.ts'

/** Where a citation can be opened. */
type CitationTarget =
  | { kind: 'url'; url: string }
  /** The stored original, as it was when it was cited. */
  | { kind: 'original'; path: string; name: string; line: number | undefined }
  /** The document is not stored on this machine, or cannot be opened safely. */
  | { kind: 'passage' }

const PAGERS_WITH_LINES = new Set(['less', 'more', 'most'])
/** Documents for the system's viewer. Others, such as scripts and web pages, could run something when they are opened. */
const VIEWED_DOCUMENT = /\.(?:pdf|docx|odt|rtf|xlsx|ods|pptx|odp|epub|eml|msg|zip|tar|t?gz)$/i
/** They can contain macros, and a pager cannot show them. */
const MACRO_DOCUMENT = /\.(?:doc|xlsm)$/i
/** Viewers of other documents may take the number of a page for a part of the name. */
const PAGED_DOCUMENT = /\.(?:pdf|docx|epub)$/i
/** A line that identifies its place in the document. */
const MIN_LINE_LENGTH = 12

export function locateCitation(citation: Citation, { documents }: Paths): CitationTarget {
  const { source, content_hash, content } = citation
  if (/^https?:\/\//i.test(source) && URL.canParse(source)) return { kind: 'url', url: new URL(source).href }
  if (!content_hash || !/^[0-9a-f]{64}$/.test(content_hash) || MACRO_DOCUMENT.test(source)) return { kind: 'passage' }
  const path = join(documents, content_hash.slice(0, 2), content_hash)
  if (!existsSync(path)) return { kind: 'passage' }
  const bytes = readFileSync(path)
  const name = basename(sanitizeLine(source)).replace(/^\.*$/, 'document')
  return { kind: 'original', path, name, line: VIEWED_DOCUMENT.test(name) ? undefined : findLine(bytes.toString('utf8'), content) }
}

/** Returns the number of the line at which the passage starts; 1 if it was changed by parsing. */
export function findLine(text: string, passage: string): number {
  const lines = passage.split('\n').map((line) => line.trim())
  const index = lines.findIndex((line) => line.length >= MIN_LINE_LENGTH && text.includes(line))
  if (index === -1) return 1
  const found = text.slice(0, text.indexOf(lines[index] as string)).split('\n').length
  return Math.max(1, found - index)
}

/** Returns `leave.md:12`, or what else names the place. */
export function formatTarget(citation: Citation, target: CitationTarget): string {
  if (target.kind === 'url') return sanitizeLine(target.url)
  const line = target.kind === 'original' && target.line !== undefined && target.line > 1 ? `:${target.line}` : ''
  return `${formatLocation(citation)}${line}`
}

/** Waits for the pager; a viewer continues on its own. */
export async function openCitation(citation: Citation, target: CitationTarget): Promise<void> {
  if (target.kind === 'url') return openWithSystem(target.url)
  const folder = mkdtempSync(join(tmpdir(), 'cadre-open-'))
  if (target.kind === 'original') {
    const copy = join(folder, target.name)
    copyFileSync(target.path, copy)
    // The system deletes the copy with its other temporary files.
    if (target.line === undefined)
      return openWithSystem(`${pathToFileURL(copy).href}${PAGED_DOCUMENT.test(copy) ? `#page=${citation.page}` : ''}`)
    return showInPager(copy, target.line, folder)
  }
  const text = join(folder, `passage-${citation.index}.txt`)
  writeFileSync(text, `${formatLocation(citation)}\n\n${sanitizeText(citation.content)}\n`)
  return showInPager(text, 1, folder)
}

async function showInPager(file: string, line: number, folder: string): Promise<void> {
  const [program = 'less', ...words] = (readEnvironmentVariable('PAGER') ?? 'less').split(/\s+/)
  const position = PAGERS_WITH_LINES.has(basename(program)) && line > 1 ? [`+${line}`] : []
  try {
    await runPager(program, [...words, ...position, file])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runPager(program: string, words: readonly string[]): Promise<void> {
  await once(spawn(program, words, { stdio: 'inherit' }), 'close').catch((error: Error) => {
    throw new UsageError(`${program} cannot be started: ${error.message}.`, 'Set PAGER to a program that is installed.')
  })
}
