/** Flags of the commands that start a daemon. */
import { boolean, integer, string } from '@oclif/core/flags'

export const daemonFlags = {
  host: string({ description: 'Address to listen on (default: 127.0.0.1).' }),
  port: integer({ description: 'Port to listen on (default: 7411); 0 selects a free port.', min: 0, max: 65_535 }),
  'allow-remote': boolean({ description: 'Allow an address that other machines can reach.' }),
}

export interface DaemonFlags {
  host?: string | undefined
  port?: number | undefined
  'allow-remote'?: boolean
}

export function formatDaemonArguments({ host, port, 'allow-remote': remote }: DaemonFlags): string[] {
  return [
    ...(host === undefined ? [] : ['--host', host]),
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(remote ? ['--allow-remote'] : []),
  ]
}
