/** Types of knowledge sources, their configuration and authentication. */
import { type Static, type TSchema, Type } from 'typebox'
import { DOCUMENT_MEDIA_TYPES, IMAGE_TYPES } from '../document-types.ts'
import { authentication, basicAuth, bearerAuth, noAuth } from './auth.ts'
import { flag, httpUrl, integer, namedObject, nonEmptyText, optional, stringEnum } from './fields.ts'

export const SOURCE_TYPES = ['file', 'folder', 'url', 'git', 'text'] as const
export type SourceType = (typeof SOURCE_TYPES)[number]

/** File types of sources that do not set file_types. */
export const DEFAULT_FILE_TYPES: readonly string[] = [
  ...Object.keys(DOCUMENT_MEDIA_TYPES),
  ...IMAGE_TYPES,
  ...'md markdown txt rst html htm csv tsv json jsonl yaml yml toml ini cfg conf properties xml'.split(' '),
  ...'srt vtt org adoc asciidoc tex ics vcf 1 2 3 4 5 6 7 8 9'.split(' '),
  ...'js mjs cjs ts tsx jsx py go rs java kt c h cc cpp hpp cs rb php swift scala sh sql css lua r'.split(' '),
]
export const DEFAULT_MAX_FILE_SIZE = 50 * 1024 * 1024

const path = Type.String({ minLength: 1, maxLength: 4_096, pattern: '^[^\\u0000]+$', description: "A path on the daemon's machine." })
const glob = nonEmptyText('A glob such as **/*.md.', 1_000)
const files = {
  file_types: Type.Array(Type.String({ pattern: '^[A-Za-z0-9]{1,16}$', description: 'A file extension without the dot.' }), {
    minItems: 1,
    maxItems: 200,
    uniqueItems: true,
    description: 'File types to read.',
    examples: [['pdf', 'txt', 'md']],
  }),
  max_file_size: integer('Maximum file size, in bytes.', { minimum: 1, maximum: 1024 ** 3 }),
}
const schedule = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Schedule of automatic syncs, as a cron expression with five fields.',
  examples: ['0 3 * * *'],
})
const ocr = flag('Whether to recognise the text of images and scanned pages.', true)
const globs = {
  include: Type.Array(glob, { maxItems: 200, description: 'Globs of paths to include.' }),
  exclude: Type.Array(glob, { maxItems: 200, description: 'Globs of paths to exclude.' }),
}

const allow_private_network = flag('Whether the source may read addresses in private networks. Only admins can set it.', false)

/** Configuration by source type. */
export const SOURCE_CONFIGURATIONS = {
  file: namedObject(
    'FileSourceConfiguration',
    'Configuration of a file source.',
    optional({
      ...files,
      paths: Type.Array(path, {
        maxItems: 1_000,
        description: "Paths of files and folders on the daemon's machine, in addition to uploaded documents.",
      }),
      ocr,
      schedule,
    }),
  ),
  folder: namedObject('FolderSourceConfiguration', 'Configuration of a folder source.', {
    path,
    ...optional({
      ...globs,
      ...files,
      gitignore: flag('Whether to skip files that .gitignore excludes.', true),
      ocr,
      watch: flag('Whether to sync when files change.', false),
      schedule,
    }),
  }),
  url: namedObject('UrlSourceConfiguration', 'Configuration of a url source.', {
    url: httpUrl('URL of a page, site or sitemap.'),
    ...optional({
      mode: stringEnum(['page', 'site', 'sitemap'], {
        default: 'page',
        description: 'page: one page; site: the page and linked pages of the same site; sitemap: the pages of a sitemap.',
      }),
      max_depth: integer('Maximum link depth of a site.', { minimum: 0, maximum: 10 }),
      max_pages: integer('Maximum number of pages.', { minimum: 1, maximum: 10_000 }),
      ocr,
      allow_private_network,
      schedule,
    }),
  }),
  git: namedObject('GitSourceConfiguration', 'Configuration of a git source.', {
    repository: Type.String({
      minLength: 1,
      maxLength: 2_000,
      pattern: '^[^\\u0000-\\u001f]+$',
      description: "URL of a repository, or its path on the daemon's machine. Credentials belong in `auth`, not in the URL.",
    }),
    ...optional({
      branch: Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: '^[A-Za-z0-9_][A-Za-z0-9_./-]*$',
        description: 'Branch or tag.',
      }),
      ...globs,
      ...files,
      ocr,
      allow_private_network,
      schedule,
    }),
  }),
  text: namedObject('TextSourceConfiguration', 'Configuration of a text source.', {
    text: nonEmptyText('Text of the document.', 900_000),
  }),
} satisfies Record<SourceType, TSchema>

export const sourceAuth = authentication(
  'Authentication for git repositories over http and https. The values are write-only.',
  [noAuth, bearerAuth, basicAuth],
  { type: 'basic', username: 'git', password: '<TOKEN>' },
)
export type SourceAuth = Static<typeof sourceAuth>

export type SourceConfiguration = Record<string, unknown>
export const sourceConfiguration = Type.Unsafe<SourceConfiguration>({
  type: 'object',
  description: 'Configuration; the fields depend on the type.',
  additionalProperties: true,
  examples: [{ file_types: ['pdf', 'txt', 'md'], max_file_size: 10_485_760 }],
})
