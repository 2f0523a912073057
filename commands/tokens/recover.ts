import { formatDaemonArguments } from '../../src/cli/daemon/daemon-flags.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { findDaemonProcess, resolveAddress, resolveAdminToken } from '../../src/client/address.ts'
import { call } from '../../src/client/call.ts'
import { UnreachableError } from '../../src/client/errors.ts'
import type { Connection } from '../../src/client/request.ts'
import { startDaemon } from '../../src/client/start-daemon.ts'
import { stopDaemon } from '../../src/client/stop-daemon.ts'
import { VerifyingAgent } from '../../src/client/verify-daemon.ts'
import { environmentOverrides, readSettings } from '../../src/config.ts'
import { type CadreError, handleError } from '../../src/contract/errors.ts'
import { systemRoutes } from '../../src/contract/families/system.ts'

export default class TokensRecover extends CadreCommand {
  static override description =
    'Create a new admin token after the old one was lost.\n\n' +
    "Restarts the daemon; works only on the daemon's machine and for the owner of its home. If CADRE_TOKEN is set, that value " +
    'becomes the admin token.'
  static override examples = [
    { command: 'cadre tokens recover', description: 'Replace a lost or invalid token' },
    { command: 'cadre tokens list --role admin', description: 'List the admin tokens; old ones stay valid' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(TokensRecover)
    const { url: serviceUrl } = resolveAddress(this.paths, flags.profile)
    if (serviceUrl !== undefined)
      throw new UsageError(
        `Commands use the service at ${serviceUrl}. Recover its token on the machine where that daemon runs.`,
        'To recover the token of the local daemon: cadre tokens recover --profile local',
      )
    const before = findDaemonProcess(this.paths)
    const port = before ? Number(new URL(before.url).port) : undefined
    await stopDaemon(this.paths)
    const options = [...formatDaemonArguments({ port }), '--recover-token']
    const { url } = await startDaemon({ paths: this.paths, root: this.config.root, notify: this.notify, options })
    const token = await resolveAdminToken(this.paths, this.notify)
    await verifyToken({ url, token, agent: new VerifyingAgent(this.paths, url), notify: this.notify })
    this.notify('Created a new admin token. Commands now use it.')
    this.#warnAboutOtherToken(token)
    await this.printUnlessTable({ recovered: true, url }, flags)
  }

  /** A token in the CLI settings takes precedence over the stored one. */
  #warnAboutOtherToken(token: string | undefined): void {
    const { token: given } = environmentOverrides()
    const { token: set } = readSettings(this.paths)
    if (given === undefined && set !== undefined && set !== token)
      this.notify('A different token in the CLI settings takes precedence. To remove it: cadre config unset token')
  }
}

/** Fails if another daemon, started without --recover-token, came up first. */
async function verifyToken(connection: Connection): Promise<void> {
  const explain = (cause: CadreError) => {
    throw new UnreachableError('Another daemon started in the meantime, so no token was created.', {
      hint: 'If a service manager starts it, stop that service (systemctl --user stop cadre) and try again.',
      cause,
    })
  }
  await call(connection, systemRoutes.status, {}).catch(handleError('UNAUTHENTICATED', explain))
}
