/** Reads subtitles (SubRip, WebVTT) as paragraphs that start with their time. */
import type { ParsedDocument } from '../parsed-document.ts'

const TIMES = /^\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,]\d{1,3}\s*-->\s*(?:(\d{1,3}):)?(\d{1,2}):(\d{2})[.,]\d{1,3}/
/** A paragraph ends with a longer pause, or with a sentence if it is long. */
const MAX_PAUSE_SECONDS = 4
const PARAGRAPH_LENGTH = 400
const MAX_PARAGRAPH_LENGTH = 900

interface Paragraph {
  start: number
  end: number
  text: string
}

export function readSubtitles(source: string): ParsedDocument | undefined {
  const paragraphs: Paragraph[] = []
  let times: { start: number; end: number } | undefined
  let previous = ''
  const lines = source.split('\n')
  for (const [index, line] of lines.entries()) {
    const match = TIMES.exec(line.slice(0, 200))
    if (match) times = { start: toSeconds(match[1], match[2], match[3]), end: toSeconds(match[4], match[5], match[6]) }
    else if (line.trim() === '') times = undefined
    else if (times && !isCounter(line, lines[index + 1])) {
      const text = removeTags(line)
      // Live captions repeat the line before.
      if (text !== '' && text !== previous) addText(paragraphs, text, times)
      previous = text
    }
  }
  if (paragraphs.length === 0) return undefined
  return {
    text: paragraphs.map(({ start, text }) => `[${formatTime(start)}] ${text}`).join('\n\n'),
    format: 'plain',
    pages: [],
    title: null,
  }
}

/** The number of the next subtitle, if no empty line is before it. */
const isCounter = (line: string, next: string | undefined): boolean => /^\s*\d{1,9}\s*$/.test(line) && TIMES.test(next?.slice(0, 200) ?? '')

function addText(paragraphs: Paragraph[], text: string, { start, end }: { start: number; end: number }): void {
  const last = paragraphs.at(-1)
  const isFull =
    !last ||
    start - last.end > MAX_PAUSE_SECONDS ||
    last.text.length > MAX_PARAGRAPH_LENGTH ||
    (last.text.length > PARAGRAPH_LENGTH && /[.!?…]["'”’)]?$/.test(last.text))
  if (isFull) paragraphs.push({ start, end, text })
  else {
    last.text += ` ${text}`
    last.end = end
  }
}

/** Keeps the names of speakers. */
function removeTags(line: string): string {
  return line
    .replaceAll(/<v(?:\.[^\s<>]{0,100})?\s+([^<>]{1,100})>/g, '$1: ')
    .replaceAll(/<[^<>]*>|\{\\[^{}]*\}/g, '')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&nbsp;', ' ')
    .trim()
}

const toSeconds = (hours = '0', minutes = '0', seconds = '0'): number => Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)

function formatTime(total: number): string {
  const pad = (value: number) => String(value).padStart(2, '0')
  return `${pad(Math.floor(total / 3_600))}:${pad(Math.floor(total / 60) % 60)}:${pad(total % 60)}`
}
