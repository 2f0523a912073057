/** Plans the knowledge sources for the targets of `knowledge add`. */
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import { boolean, integer, option, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import type { SourceAuth, SourceType } from '../../contract/schemas/source-configurations.ts'
import { splitUrlCredentials, type UrlCredentials } from '../../contract/url-credentials.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { type Body, SECRET_VALUE } from '../input/input-reader.ts'
import { type LocalFile, listFiles } from '../input/local-files.ts'
import { repeatable } from '../input/repeatable-flags.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

const ADDABLE_TYPES = ['folder', 'file', 'url', 'git'] as const
type AddableType = (typeof ADDABLE_TYPES)[number]

export const sourceFlags = {
  name: string({ description: 'Name of the source and its RAG tool (default: from the target).' }),
  type: option({ options: ADDABLE_TYPES })({
    description: 'Type of the target (default: detected).',
    helpValue: ADDABLE_TYPES.join('|'),
  }),
  include: string({ ...repeatable, description: 'Include only files that match this glob. Repeatable.', helpValue: '<glob>' }),
  exclude: string({ ...repeatable, description: 'Exclude files that match this glob. Repeatable.', helpValue: '<glob>' }),
  watch: boolean({ allowNo: true, description: 'Index changes of a folder as they happen (default for new folders).' }),
  ocr: boolean({ allowNo: true, description: 'Recognise the text of images and scanned pages (default: true).' }),
  schedule: string({ description: 'Sync on a schedule, as a five-field cron expression.', helpValue: '<cron>' }),
  token: string({ description: 'Token or password for a git repository over HTTPS; stored encrypted.', helpValue: SECRET_VALUE }),
  username: string({ description: 'User name for --token (default: git).' }),
  site: boolean({ description: 'Crawl the site from this page.' }),
  depth: integer({ description: 'Maximum link depth of a crawl.', min: 0, max: 10 }),
  'allow-private-network': boolean({
    description: 'Allow addresses in the private network. Admins only.',
  }),
  send: boolean({ description: 'Upload the files of a folder instead of letting the daemon read them.' }),
}

/** The flags, with the secret that --token names. With `send`, files are uploaded instead of read by the daemon. */
type AddOptions = Partial<InferredFlags<typeof sourceFlags>> & { send: boolean }

/** A knowledge source to create or update. */
export interface PlannedSource {
  name: string
  type: SourceType
  configuration: Body
  auth?: SourceAuth
  /** Files to upload. */
  files: LocalFile[]
  /** The target, for messages. */
  location: string
  /** Settings of a new source; an existing one keeps its own. */
  defaults?: Body
  /** Whether a source of the same name is reused even if its location differs. */
  canMove?: boolean
}

/** The configuration field with the location of a source, which identifies it. */
export const LOCATION_FIELDS: Partial<Record<SourceType, string>> = { folder: 'path', url: 'url', git: 'repository' }

/** Plans a source for each folder, URL and repository, and one for all files. */
export async function planSources(targets: readonly string[], options: AddOptions): Promise<PlannedSource[]> {
  const typed = targets.map((target) => ({ target, type: options.type ?? detectType(target) }))
  const files = typed.filter(({ type }) => type === 'file').map(({ target }) => target)
  const others = typed.filter(({ type }) => type !== 'file')
  if (options.name !== undefined && others.length + (files.length > 0 ? 1 : 0) > 1)
    throw new UsageError('--name can be used with one source only.', 'Add the sources one by one.')
  const sources = await Promise.all(others.map(({ target, type }) => planSource(target, type, options)))
  if (files.length > 0) sources.push(planFiles(files, options))
  return sources
}

function detectType(target: string): AddableType {
  if (/^(git@|ssh:\/\/|git:\/\/)/.test(target) || /^https?:\/\/.*\.git\/?$/i.test(target)) return 'git'
  if (/^https?:\/\//i.test(target)) return 'url'
  const stats = statSync(target, { throwIfNoEntry: false })
  if (stats) return stats.isDirectory() ? 'folder' : 'file'
  throw new UsageError(`There is no file or folder ${target}.`, 'Specify a folder, files, an http(s) URL, or a git URL that ends in .git.')
}

async function planSource(target: string, type: AddableType, options: AddOptions): Promise<PlannedSource> {
  if (type !== 'git') rejectFlags(options, ['token', 'username'], 'git repositories')
  if (type === 'folder') rejectFlags(options, ['allow-private-network'], 'URLs and git repositories')
  if (type === 'url') return planUrl(target, options)
  if (type === 'git') return planRepository(target, options)
  return planFolder(target, options)
}

async function planFolder(target: string, options: AddOptions): Promise<PlannedSource> {
  const path = resolve(target)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${target} is not a folder.`)
  rejectFlags(options, ['site', 'depth'], 'web sites')
  const { include, exclude, watch, ocr, schedule } = options
  const base = { name: options.name ?? (basename(path) || 'root'), location: target }
  if (!options.send) {
    const configuration = omitUndefined({ path, include, exclude, watch, ocr, schedule })
    return { ...base, type: 'folder', files: [], configuration, defaults: { watch: true } }
  }
  rejectFlags(options, ['watch', 'schedule'], 'folders that the daemon reads; these files are uploaded')
  const files = await listFiles(path, omitUndefined({ include, exclude, ocr }))
  if (files.length === 0)
    throw new UsageError(`There are no files to upload in ${target}.`, 'Hidden files and files in .gitignore are skipped.')
  return { ...base, type: 'file', configuration: omitUndefined({ ocr }), files }
}

function planFiles(targets: readonly string[], options: AddOptions): PlannedSource {
  rejectFlags(options, ['watch', 'schedule', 'include', 'exclude'], 'folders')
  rejectFlags(options, ['site', 'depth'], 'web sites')
  rejectFlags(options, ['token', 'username'], 'git repositories')
  rejectFlags(options, ['allow-private-network'], 'URLs and git repositories')
  const paths = targets.map((target) => resolve(target))
  const folders = targets.filter((target) => statSync(target, { throwIfNoEntry: false })?.isDirectory() !== false)
  if (folders[0] !== undefined) throw new UsageError(`${folders[0]} is not a file.`)
  const [first = ''] = paths
  const isSingle = paths.length === 1
  const name = options.name ?? (isSingle ? basename(first, extname(first)) : basename(dirname(first)))
  return {
    name,
    type: 'file',
    configuration: omitUndefined({ ocr: options.ocr }),
    files: nameFiles(paths),
    location: isSingle ? (targets[0] ?? '') : `${targets.length} files`,
  }
}

/** Names files by their last path segment, or by as many segments as needed to be unique. */
function nameFiles(paths: readonly string[]): LocalFile[] {
  const unique = [...new Set(paths)]
  const getSuffix = (path: string, count: number) => path.split(/[/\\]/).filter(Boolean).slice(-count).join('/').normalize('NFC')
  return unique.map((path) => {
    let count = 1
    while (unique.some((other) => other !== path && getSuffix(other, count) === getSuffix(path, count))) count++
    return { path, name: getSuffix(path, count) }
  })
}

function planUrl(url: string, options: AddOptions): PlannedSource {
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is not a valid URL.`)
  if (splitUrlCredentials(url))
    throw new UsageError('The URL contains credentials, which are not supported for web pages.', 'To add a git repository, use --type git.')
  rejectFlags(options, ['watch', 'include', 'exclude'], 'folders; use --schedule for a site')
  const { hostname, pathname } = new URL(url)
  const mode = options.site || options.depth !== undefined ? 'site' : /sitemap[^/]*\.xml$/i.test(pathname) ? 'sitemap' : undefined
  const name = `${hostname.replace(/^www\./, '')}${pathname.replace(/\/+$/, '')}`
  return {
    name: options.name ?? name,
    type: 'url',
    files: [],
    location: url,
    configuration: omitUndefined({
      url,
      mode,
      max_depth: options.depth,
      ocr: options.ocr,
      allow_private_network: options['allow-private-network'] || undefined,
      schedule: options.schedule,
    }),
  }
}

function planRepository(target: string, options: AddOptions): PlannedSource {
  rejectFlags(options, ['watch'], 'folders; use --schedule for a repository')
  rejectFlags(options, ['site', 'depth'], 'web sites')
  const isLocal = existsSync(target)
  if (isLocal && options.send)
    throw new UsageError('The daemon runs on another machine and cannot read this repository.', 'Omit --type git to upload its files.')
  const split = isLocal ? undefined : splitUrlCredentials(target)
  const repository = isLocal ? resolve(target) : (split?.address ?? target)
  const name = options.name ?? (basename(repository.replace(/\/+$/, '').replace(/^.*:(?!\/\/)/, '')).replace(/\.git$/i, '') || 'repository')
  const { include, exclude, ocr, schedule } = options
  const auth = createAuth(options, split?.login)
  return {
    name,
    type: 'git',
    files: [],
    location: repository,
    configuration: omitUndefined({
      repository,
      ocr,
      include,
      exclude,
      allow_private_network: options['allow-private-network'] || undefined,
      schedule,
    }),
    auth,
  }
}

/** Git servers accept any user name with a token. */
function createAuth({ token, username }: AddOptions, urlCredentials: UrlCredentials | undefined): SourceAuth | undefined {
  if (token === undefined && username !== undefined) throw new UsageError('--username requires --token.')
  if (token === undefined) return urlCredentials && { type: 'basic', ...urlCredentials }
  if (urlCredentials) throw new UsageError('The URL contains credentials and --token is set.', 'Use only one of them.')
  return { type: 'basic', username: username ?? 'git', password: token }
}

function rejectFlags(options: AddOptions, names: readonly (keyof AddOptions)[], targets: string): void {
  const flag = names.find((name) => options[name] !== undefined && options[name] !== false)
  if (flag) throw new UsageError(`--${flag} can be used only with ${targets}.`)
}
