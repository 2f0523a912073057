/** Flags of the commands that start a daemon. */
import { boolean, integer, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'

export const daemonFlags = {
  host: string({ description: 'Address to listen on (default: 127.0.0.1).' }),
  port: integer({ description: 'Port to listen on (default: 7411); 0 selects a free port.', min: 0, max: 65_535 }),
  'allow-remote': boolean({ description: 'Allow an address that other machines can reach.' }),
  'storage-url': string({ description: 'URL of a bucket for documents and vectors (default: folders in the home).' }),
  'database-url': string({ description: 'URL of a libSQL server for the records (default: a file in the home).' }),
}

export function formatDaemonArguments(flags: Partial<InferredFlags<typeof daemonFlags>>): string[] {
  const { host, port, 'allow-remote': remote, 'database-url': databaseUrl, 'storage-url': storageUrl } = flags
  return [
    ...(host === undefined ? [] : ['--host', host]),
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(remote ? ['--allow-remote'] : []),
    ...(databaseUrl === undefined ? [] : ['--database-url', databaseUrl]),
    ...(storageUrl === undefined ? [] : ['--storage-url', storageUrl]),
  ]
}
