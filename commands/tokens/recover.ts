/** Makes a new admin token where the old one was lost. */

import { daemonArguments } from '../../src/cli/daemon/daemon-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { UsageError } from '../../src/cli/terminal/errors.ts'
import { chosenAddress, keptToken, livingDaemon } from '../../src/client/address.ts'
import { call } from '../../src/client/call.ts'
import { startDaemon, stopDaemon } from '../../src/client/daemon.ts'
import { ServiceError, UnreachableError } from '../../src/client/failures.ts'
import type { Connection } from '../../src/client/request.ts'
import { environmentOverrides, readSettings } from '../../src/config.ts'
import { systemRoutes } from '../../src/contract/families/system.ts'

export default class TokensRecover extends CadreCommand {
  static override description =
    "Make a new admin token, where the one that commands use was lost.\n\nWorks only on the daemon's own machine and for the owner of its home: it restarts the daemon, which then makes a token and keeps it in the keychain or in a file of the home. With CADRE_TOKEN in the environment that one becomes an admin token. Tokens that were there stay valid; cadre tokens list shows them."
  static override examples = [
    { command: 'cadre tokens recover', description: 'When commands say that the token is gone or not valid' },
    { command: 'cadre tokens list --role admin', description: 'And then see which ones there are' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(TokensRecover)
    const chosen = chosenAddress(this.paths)
    if (chosen !== undefined)
      throw new UsageError(
        `Commands go to ${chosen}, and a token is recovered where that daemon runs.`,
        'For the daemon of this machine leave CADRE_URL out, and: cadre config unset url',
      )
    const before = livingDaemon(this.paths)
    const port = before ? Number(new URL(before.url).port) : undefined
    await stopDaemon(this.paths)
    const options = [...daemonArguments({ port }), '--recover-token']
    const { url } = await startDaemon({ paths: this.paths, root: this.config.root, narrate: this.narrate, options })
    const token = await keptToken(this.paths, this.narrate)
    await proven({ url, token, narrate: this.narrate })
    this.narrate('There is a new admin token, and commands use it from now on.')
    this.#others(token)
    if (this.formatOf(flags) !== 'table') await this.print({ data: { recovered: true, url } }, flags)
  }

  /** What is set goes before what is kept. */
  #others(token: string | undefined): void {
    const { token: given } = environmentOverrides()
    const { token: set } = readSettings(this.paths)
    if (given === undefined && set !== undefined && set !== token)
      this.narrate('But cadre config holds another token, which goes before it: cadre config unset token')
  }
}

/** Another daemon may have been faster, one that nobody asked for a token. */
async function proven(connection: Connection): Promise<void> {
  try {
    await call(connection, systemRoutes.status, {})
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'UNAUTHENTICATED') throw error
    throw new UnreachableError('Another daemon was started meanwhile, so no token was made.', {
      hint: 'If a service manager starts it, stop it there first (systemctl --user stop cadre), and try again.',
      cause: error,
    })
  }
}
