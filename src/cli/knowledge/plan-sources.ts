/** What `knowledge add` is pointed at, and the knowledge sources that it becomes. */
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import type { SourceAuth, SourceType } from '../../contract/families/knowledge-sources.ts'
import { splitUrlCredentials, type UrlCredentials } from '../../contract/url-credentials.ts'
import type { Body } from '../input/input-reader.ts'
import { filesOf, type LocalFile } from '../input/local-files.ts'
import { UsageError } from '../terminal/errors.ts'

export const ADDABLE_TYPES = ['folder', 'file', 'url', 'git'] as const
type AddableType = (typeof ADDABLE_TYPES)[number]

export interface AddOptions {
  name?: string | undefined
  type?: AddableType | undefined
  include?: string[] | undefined
  exclude?: string[] | undefined
  watch?: boolean | undefined
  schedule?: string | undefined
  site?: boolean | undefined
  depth?: number | undefined
  /** Whether addresses inside the private network may be read. */
  'allow-private-network'?: boolean | undefined
  /** What a repository is opened with. */
  token?: string | undefined
  username?: string | undefined
  /** Send files instead of having the daemon read them. */
  send: boolean
}

/** A knowledge source that should be there. */
export interface PlannedSource {
  name: string
  type: SourceType
  configuration: Body
  auth?: SourceAuth
  /** Documents to send to it. */
  files: LocalFile[]
  /** What the user pointed at, in words. */
  location: string
  /** Whether a source of that name is the same one also when it was somewhere else. */
  canMove?: boolean
}

/** The field that says where a source reads from: two that agree in it are the same. */
export const LOCATION_FIELDS: Partial<Record<SourceType, string>> = { folder: 'path', url: 'url', git: 'repository' }

/** The sources for what was named: each folder, address and repository is one, and all files together are one. */
export async function planSources(targets: readonly string[], options: AddOptions): Promise<PlannedSource[]> {
  const typed = targets.map((target) => ({ target, type: options.type ?? detectType(target) }))
  const files = typed.filter(({ type }) => type === 'file').map(({ target }) => target)
  const others = typed.filter(({ type }) => type !== 'file')
  if (options.name !== undefined && others.length + (files.length > 0 ? 1 : 0) > 1)
    throw new UsageError('--name is for one source, and these are several.', 'Add them one after the other.')
  const additions = await Promise.all(others.map(({ target, type }) => planSource(target, type, options)))
  if (files.length > 0) additions.push(planFiles(files, options))
  return additions
}

function detectType(target: string): AddableType {
  if (/^(git@|ssh:\/\/|git:\/\/)/.test(target) || /^https?:\/\/.*\.git\/?$/i.test(target)) return 'git'
  if (/^https?:\/\//i.test(target)) return 'url'
  const found = statSync(target, { throwIfNoEntry: false })
  if (found) return found.isDirectory() ? 'folder' : 'file'
  throw new UsageError(
    `There is no file or folder ${target}.`,
    'Name a folder, files, an http(s) address, or a git address that ends in .git.',
  )
}

async function planSource(target: string, type: AddableType, options: AddOptions): Promise<PlannedSource> {
  if (type !== 'git') rejectFlags(options, ['token', 'username'], 'git repositories')
  if (type === 'folder') rejectFlags(options, ['allow-private-network'], 'web pages and git repositories')
  if (type === 'url') return planUrl(target, options)
  if (type === 'git') return planRepository(target, options)
  return planFolder(target, options)
}

async function planFolder(target: string, options: AddOptions): Promise<PlannedSource> {
  const path = resolve(target)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${target} is not a folder.`)
  rejectFlags(options, ['site', 'depth'], 'web sites')
  const { include, exclude, watch, schedule } = options
  const named = { name: options.name ?? (basename(path) || 'root'), place: target }
  if (!options.send)
    return { ...named, type: 'folder', files: [], configuration: omitUndefined({ path, include, exclude, watch, schedule }) }
  rejectFlags(options, ['watch', 'schedule'], 'folders that the daemon reads itself; these files are sent to it')
  const files = await filesOf(path, omitUndefined({ include, exclude }))
  if (files.length === 0)
    throw new UsageError(`There is nothing to send in ${target}.`, 'Hidden files, and what .gitignore names, are left out.')
  return { ...named, type: 'file', configuration: {}, files }
}

function planFiles(targets: readonly string[], options: AddOptions): PlannedSource {
  rejectFlags(options, ['watch', 'schedule', 'include', 'exclude'], 'folders')
  rejectFlags(options, ['site', 'depth'], 'web sites')
  rejectFlags(options, ['token', 'username'], 'git repositories')
  rejectFlags(options, ['allow-private-network'], 'web pages and git repositories')
  const paths = targets.map((target) => resolve(target))
  const folders = targets.filter((target) => statSync(target, { throwIfNoEntry: false })?.isDirectory() !== false)
  if (folders[0] !== undefined) throw new UsageError(`${folders[0]} is not a file.`)
  const [first = ''] = paths
  const single = paths.length === 1
  const name = options.name ?? (single ? basename(first, extname(first)) : basename(dirname(first)))
  return {
    name,
    type: 'file',
    configuration: {},
    files: nameFiles(paths),
    location: single ? (targets[0] ?? '') : `${targets.length} files`,
  }
}

/** By their last part, unless two share it: then by as much of the path as tells them apart. */
function nameFiles(paths: readonly string[]): LocalFile[] {
  const unique = [...new Set(paths)]
  const parts = (path: string, count: number) => path.split(/[/\\]/).filter(Boolean).slice(-count).join('/').normalize('NFC')
  return unique.map((path) => {
    let count = 1
    while (unique.some((other) => other !== path && parts(other, count) === parts(path, count))) count++
    return { path, name: parts(path, count) }
  })
}

function planUrl(url: string, options: AddOptions): PlannedSource {
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is not an address.`)
  if (splitUrlCredentials(url))
    throw new UsageError(
      'There is a login in the address, and pages that want one cannot be read.',
      'A git repository is added with --type git.',
    )
  rejectFlags(options, ['watch', 'include', 'exclude'], 'folders; a site takes --schedule')
  const { hostname, pathname } = new URL(url)
  const mode = options.site || options.depth !== undefined ? 'site' : /sitemap[^/]*\.xml$/i.test(pathname) ? 'sitemap' : undefined
  const name = `${hostname.replace(/^www\./, '')}${pathname.replace(/\/+$/, '')}`
  return {
    name: options.name ?? name,
    type: 'url',
    files: [],
    location: url,
    configuration: omitUndefined({ url, mode, max_depth: options.depth, ...opened(options), schedule: options.schedule }),
  }
}

function planRepository(target: string, options: AddOptions): PlannedSource {
  rejectFlags(options, ['watch'], 'folders; a repository takes --schedule')
  rejectFlags(options, ['site', 'depth'], 'web sites')
  const local = existsSync(target)
  if (local && options.send)
    throw new UsageError(
      'A repository on this machine cannot be read by a daemon on another one.',
      'Leave out --type git to send its files.',
    )
  const held = local ? undefined : splitUrlCredentials(target)
  const repository = local ? resolve(target) : (held?.address ?? target)
  const name = options.name ?? (basename(repository.replace(/\/+$/, '').replace(/^.*:(?!\/\/)/, '')).replace(/\.git$/i, '') || 'repository')
  const { include, exclude, schedule } = options
  const auth = createAuth(options, held?.login)
  return {
    name,
    type: 'git',
    files: [],
    location: repository,
    configuration: omitUndefined({ repository, include, exclude, ...opened(options), schedule }),
    ...(auth ? { auth } : {}),
  }
}

/** Where a token is all there is, servers take any name with it. */
function createAuth({ token, username }: AddOptions, held: UrlCredentials | undefined): SourceAuth | undefined {
  if (token === undefined && username !== undefined) throw new UsageError('--username goes with --token.')
  if (token === undefined) return held && { type: 'basic', ...held }
  if (held) throw new UsageError('There is a login in the address, and --token is another one.', 'Leave one of them out.')
  return { type: 'basic', username: username ?? 'git', password: token }
}

const opened = (options: AddOptions): Body => (options['allow-private-network'] ? { allow_private_network: true } : {})

const omitUndefined = (fields: Body): Body => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function rejectFlags(options: AddOptions, names: readonly (keyof AddOptions)[], only: string): void {
  const found = names.find((name) => options[name] !== undefined && options[name] !== false)
  if (found) throw new UsageError(`--${found} is for ${only}.`)
}
