/** Describes how MCP clients start or reach Cadre. */
import { join, sep } from 'node:path'
import { environmentOverrides, homePaths, type Paths } from '../../config.ts'
import type { StdioServer } from './clients.ts'

/**
 * Programs with a graphical interface do not know the PATH of the shell, so paths are absolute. A project's file is shared with
 * others, who have other paths.
 */
export function describeStdioServer(root: string, paths: Paths, isShared: boolean, profile?: string): StdioServer {
  const { profile: selected } = environmentOverrides()
  const name = profile ?? selected
  const words = ['mcp', ...(name === undefined ? [] : ['--profile', name])]
  const env = isShared ? {} : listEnvironment(paths)
  const variables = Object.keys(env).length > 0 ? { env } : {}
  if (isShared) return { command: 'cadre', args: words }
  // The cache of npx is temporary.
  if (root.split(sep).includes('_npx')) return { command: 'npx', args: ['-y', 'cadre', ...words], ...variables }
  return { command: process.execPath, args: [join(root, 'bin', 'run.js'), ...words], ...variables }
}

/** The variables that select the daemon. Tokens are not written to files of other programs. */
function listEnvironment({ home }: Paths): Record<string, string> {
  const { url } = environmentOverrides()
  return { ...(home === homePaths({}).home ? {} : { CADRE_HOME: home }), ...(url === undefined ? {} : { CADRE_URL: url }) }
}
