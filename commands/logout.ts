import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { UsageError } from '../src/cli/terminal/failures/command-errors.ts'
import { resolveSelectedProfile } from '../src/client/address.ts'
import { deleteProfile, LOCAL_PROFILE } from '../src/client/profiles.ts'

export default class Logout extends CadreCommand {
  static override description =
    'Log out of a remote service.\n\n' +
    'Deletes the selected profile and its token from this machine. The token itself stays valid; an admin can revoke it with ' +
    'cadre tokens delete.'
  static override examples = [
    { command: 'cadre logout', description: 'Delete the selected profile' },
    { command: 'cadre logout --profile team', description: 'Delete another profile' },
  ]

  override async run(): Promise<void> {
    const { flags } = await this.parse(Logout)
    const name = flags.profile ?? resolveSelectedProfile(this.paths)
    if (name === undefined || name === LOCAL_PROFILE)
      throw new UsageError('No profile is selected.', 'Name one with --profile. To list profiles: cadre profiles list')
    await deleteProfile(this.paths, name, this.notify)
    this.notify(`Deleted the profile "${name}". Its token stays valid until an admin deletes it.`)
    await this.printUnlessTable({ name, deleted: true }, flags)
  }
}
