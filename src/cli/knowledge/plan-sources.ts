/** What `knowledge add` is pointed at, and the knowledge sources that it becomes. */
import { existsSync, statSync } from 'node:fs'
import { basename, dirname, extname, resolve } from 'node:path'
import type { SourceAuth, SourceType } from '../../contract/families/knowledge-sources.ts'
import { splitUrlCredentials, type UrlCredentials } from '../../contract/url-credentials.ts'
import type { Body } from '../input/input-reader.ts'
import { filesOf, type LocalFile } from '../input/local-files.ts'
import { UsageError } from '../terminal/errors.ts'

export const ADDED_TYPES = ['folder', 'file', 'url', 'git'] as const
type AddedType = (typeof ADDED_TYPES)[number]

export interface AddOptions {
  name?: string | undefined
  type?: AddedType | undefined
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
export interface Addition {
  name: string
  type: SourceType
  configuration: Body
  auth?: SourceAuth
  /** Documents to send to it. */
  files: LocalFile[]
  /** What the user pointed at, in words. */
  place: string
  /** Whether a source of that name is the same one also when it was somewhere else. */
  moves?: boolean
}

/** The field that says where a source reads from: two that agree in it are the same. */
export const IDENTITY: Partial<Record<SourceType, string>> = { folder: 'path', url: 'url', git: 'repository' }

/** The sources for what was named: each folder, address and repository is one, and all files together are one. */
export async function additionsFor(targets: readonly string[], options: AddOptions): Promise<Addition[]> {
  const typed = targets.map((target) => ({ target, type: options.type ?? typeOf(target) }))
  const files = typed.filter(({ type }) => type === 'file').map(({ target }) => target)
  const others = typed.filter(({ type }) => type !== 'file')
  if (options.name !== undefined && others.length + (files.length > 0 ? 1 : 0) > 1)
    throw new UsageError('--name is for one source, and these are several.', 'Add them one after the other.')
  const additions = await Promise.all(others.map(({ target, type }) => addition(target, type, options)))
  if (files.length > 0) additions.push(fileAddition(files, options))
  return additions
}

function typeOf(target: string): AddedType {
  if (/^(git@|ssh:\/\/|git:\/\/)/.test(target) || /^https?:\/\/.*\.git\/?$/i.test(target)) return 'git'
  if (/^https?:\/\//i.test(target)) return 'url'
  const found = statSync(target, { throwIfNoEntry: false })
  if (found) return found.isDirectory() ? 'folder' : 'file'
  throw new UsageError(
    `There is no file or folder ${target}.`,
    'Name a folder, files, an http(s) address, or a git address that ends in .git.',
  )
}

async function addition(target: string, type: AddedType, options: AddOptions): Promise<Addition> {
  if (type !== 'git') refuse(options, ['token', 'username'], 'git repositories')
  if (type === 'folder') refuse(options, ['allow-private-network'], 'web pages and git repositories')
  if (type === 'url') return urlAddition(target, options)
  if (type === 'git') return gitAddition(target, options)
  return folderAddition(target, options)
}

async function folderAddition(target: string, options: AddOptions): Promise<Addition> {
  const path = resolve(target)
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new UsageError(`${target} is not a folder.`)
  refuse(options, ['site', 'depth'], 'web sites')
  const { include, exclude, watch, schedule } = options
  const named = { name: options.name ?? (basename(path) || 'root'), place: target }
  if (!options.send) return { ...named, type: 'folder', files: [], configuration: given({ path, include, exclude, watch, schedule }) }
  refuse(options, ['watch', 'schedule'], 'folders that the daemon reads itself; these files are sent to it')
  const files = await filesOf(path, given({ include, exclude }))
  if (files.length === 0)
    throw new UsageError(`There is nothing to send in ${target}.`, 'Hidden files, and what .gitignore names, are left out.')
  return { ...named, type: 'file', configuration: {}, files }
}

function fileAddition(targets: readonly string[], options: AddOptions): Addition {
  refuse(options, ['watch', 'schedule', 'include', 'exclude'], 'folders')
  refuse(options, ['site', 'depth'], 'web sites')
  refuse(options, ['token', 'username'], 'git repositories')
  refuse(options, ['allow-private-network'], 'web pages and git repositories')
  const paths = targets.map((target) => resolve(target))
  const folders = targets.filter((target) => statSync(target, { throwIfNoEntry: false })?.isDirectory() !== false)
  if (folders[0] !== undefined) throw new UsageError(`${folders[0]} is not a file.`)
  const [first = ''] = paths
  const single = paths.length === 1
  const name = options.name ?? (single ? basename(first, extname(first)) : basename(dirname(first)))
  return { name, type: 'file', configuration: {}, files: named(paths), place: single ? (targets[0] ?? '') : `${targets.length} files` }
}

/** By their last part, unless two share it: then by as much of the path as tells them apart. */
function named(paths: readonly string[]): LocalFile[] {
  const unique = [...new Set(paths)]
  const parts = (path: string, count: number) => path.split(/[/\\]/).filter(Boolean).slice(-count).join('/').normalize('NFC')
  return unique.map((path) => {
    let count = 1
    while (unique.some((other) => other !== path && parts(other, count) === parts(path, count))) count++
    return { path, name: parts(path, count) }
  })
}

function urlAddition(url: string, options: AddOptions): Addition {
  if (!URL.canParse(url)) throw new UsageError(`"${url}" is not an address.`)
  if (splitUrlCredentials(url))
    throw new UsageError(
      'There is a login in the address, and pages that want one cannot be read.',
      'A git repository is added with --type git.',
    )
  refuse(options, ['watch', 'include', 'exclude'], 'folders; a site takes --schedule')
  const { hostname, pathname } = new URL(url)
  const mode = options.site || options.depth !== undefined ? 'site' : /sitemap[^/]*\.xml$/i.test(pathname) ? 'sitemap' : undefined
  const name = `${hostname.replace(/^www\./, '')}${pathname.replace(/\/+$/, '')}`
  return {
    name: options.name ?? name,
    type: 'url',
    files: [],
    place: url,
    configuration: given({ url, mode, max_depth: options.depth, ...opened(options), schedule: options.schedule }),
  }
}

function gitAddition(target: string, options: AddOptions): Addition {
  refuse(options, ['watch'], 'folders; a repository takes --schedule')
  refuse(options, ['site', 'depth'], 'web sites')
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
  const auth = authOf(options, held?.login)
  return {
    name,
    type: 'git',
    files: [],
    place: repository,
    configuration: given({ repository, include, exclude, ...opened(options), schedule }),
    ...(auth ? { auth } : {}),
  }
}

/** Where a token is all there is, servers take any name with it. */
function authOf({ token, username }: AddOptions, held: UrlCredentials | undefined): SourceAuth | undefined {
  if (token === undefined && username !== undefined) throw new UsageError('--username goes with --token.')
  if (token === undefined) return held && { type: 'basic', ...held }
  if (held) throw new UsageError('There is a login in the address, and --token is another one.', 'Leave one of them out.')
  return { type: 'basic', username: username ?? 'git', password: token }
}

const opened = (options: AddOptions): Body => (options['allow-private-network'] ? { allow_private_network: true } : {})

const given = (fields: Body): Body => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

function refuse(options: AddOptions, names: readonly (keyof AddOptions)[], only: string): void {
  const found = names.find((name) => options[name] !== undefined && options[name] !== false)
  if (found) throw new UsageError(`--${found} is for ${only}.`)
}
