/** Flags that the commands which start a daemon share, and the words they become. */
import { boolean, integer, string } from '@oclif/core/flags'

export const daemonFlags = {
  host: string({ description: 'Address to listen at; 127.0.0.1 when left out.' }),
  port: integer({ description: 'Port to listen at, 0 for any free one; 7411 when left out.', min: 0, max: 65_535 }),
  'allow-remote': boolean({ description: 'Allow an address that other machines can reach.' }),
}

export interface DaemonFlags {
  host?: string | undefined
  port?: number | undefined
  'allow-remote'?: boolean
}

export function daemonArguments({ host, port, 'allow-remote': remote }: DaemonFlags): string[] {
  return [
    ...(host === undefined ? [] : ['--host', host]),
    ...(port === undefined ? [] : ['--port', String(port)]),
    ...(remote ? ['--allow-remote'] : []),
  ]
}
