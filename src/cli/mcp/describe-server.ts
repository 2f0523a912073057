/** Describes how MCP clients start or reach Cadre. */
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, isAbsolute, join, sep } from 'node:path'
import { environmentOverrides, homePaths, type Paths, readEnvironmentVariable } from '../../config.ts'
import type { StdioServer } from './clients.ts'

/**
 * Programs with a graphical interface do not know the PATH of the shell, so paths are absolute. A project's file is shared with
 * others, who have other paths: it names the command, if it is installed.
 */
export function describeStdioServer(root: string, paths: Paths, isShared: boolean, profile?: string): StdioServer {
  const { profile: selected } = environmentOverrides()
  const name = profile ?? selected
  const words = ['mcp', ...(name === undefined ? [] : ['--profile', name])]
  if (isShared && isCommandInstalled()) return { command: 'cadre', args: words }
  // The cache of npx is temporary.
  const isTemporary = root.split(sep).includes('_npx')
  const env = isShared && isTemporary ? {} : listEnvironment(paths)
  const variables = Object.keys(env).length > 0 ? { env } : {}
  if (isTemporary) return { command: 'npx', args: ['-y', 'cadre', ...words], ...variables }
  return { command: process.execPath, args: [join(root, 'bin', 'run.js'), ...words], ...variables }
}

/** Whether `cadre` is on the PATH. npx and npm scripts put folders on it that other programs do not have. */
function isCommandInstalled(): boolean {
  const path = readEnvironmentVariable('PATH') ?? ''
  const names = process.platform === 'win32' ? ['cadre.cmd', 'cadre.exe'] : ['cadre']
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder) && !folder.endsWith(join('node_modules', '.bin')))
  return folders.some((folder) => names.some((name) => isExecutable(join(folder, name))))
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}

/** The variables that select the daemon. Tokens are not written to files of other programs. */
function listEnvironment({ home }: Paths): Record<string, string> {
  const { url, port } = environmentOverrides()
  return {
    ...(home === homePaths({}).home ? {} : { CADRE_HOME: home }),
    ...(url === undefined ? {} : { CADRE_URL: url }),
    // Port 0 means any free port and selects nothing.
    ...(port ? { CADRE_PORT: String(port) } : {}),
  }
}
