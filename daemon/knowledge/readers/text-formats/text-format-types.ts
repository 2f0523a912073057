/** File types with a reader of their own, by extension. */

export type TextFormat = 'subtitles' | 'org' | 'asciidoc' | 'latex' | 'man' | 'calendar' | 'contacts' | 'notebook'

const FORMATS = new Map<string, TextFormat>([
  ['srt', 'subtitles'],
  ['vtt', 'subtitles'],
  ['org', 'org'],
  ['adoc', 'asciidoc'],
  ['asciidoc', 'asciidoc'],
  ['tex', 'latex'],
  ['ics', 'calendar'],
  ['vcf', 'contacts'],
  ['ipynb', 'notebook'],
])

export function findTextFormat(name: string): TextFormat | undefined {
  const type = /\.([^./]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''
  return /^[1-9]$/.test(type) ? 'man' : FORMATS.get(type)
}
