/** Reads subtitles, Org, AsciiDoc, LaTeX, man pages, calendars, contacts and notebooks. */
import { cleanText, type ParsedDocument } from '../parsed-document.ts'
import { readAsciidoc } from './read-asciidoc.ts'
import { readCalendar } from './read-calendar.ts'
import { readContacts } from './read-contacts.ts'
import { readLatex } from './read-latex.ts'
import { readManPage } from './read-man-page.ts'
import { readNotebook } from './read-notebook.ts'
import { readOrg } from './read-org.ts'
import { readSubtitles } from './read-subtitles.ts'
import type { TextFormat } from './text-format-types.ts'

const READERS: Record<TextFormat, (text: string) => ParsedDocument | undefined> = {
  subtitles: readSubtitles,
  org: readOrg,
  asciidoc: readAsciidoc,
  latex: readLatex,
  man: readManPage,
  calendar: readCalendar,
  contacts: readContacts,
  notebook: readNotebook,
}

/** Returns undefined if the text does not have the format that its name promises. */
export const readTextFormat = (source: string, format: TextFormat): ParsedDocument | undefined => READERS[format](cleanText(source))
