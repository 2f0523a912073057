import { string } from '@oclif/core/args'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { confirm, yesFlag } from '../../src/cli/terminal/confirm.ts'
import { UsageError } from '../../src/cli/terminal/failures/command-errors.ts'
import { deleteProfile, LOCAL_PROFILE, requireProfile } from '../../src/client/profiles.ts'

export default class ProfilesDelete extends CadreCommand {
  static override description =
    'Delete a profile and its token.\n\nAsks for confirmation at a terminal; scripts need --yes. The token stays valid at the service.'
  static override examples = [{ command: 'cadre profiles delete team', description: 'Delete a profile' }]
  static override args = { name: string({ required: true, ignoreStdin: true, description: 'Name of the profile.' }) }
  static override flags = { yes: yesFlag }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfilesDelete)
    const { name } = args
    if (name === LOCAL_PROFILE) throw new UsageError('The profile local is the daemon of this machine and cannot be deleted.')
    requireProfile(this.paths, name)
    await confirm(`Delete profile ${name}?`, flags.yes)
    await deleteProfile(this.paths, name, this.notify)
    this.notify(`Deleted the profile "${name}".`)
    await this.printUnlessTable({ name, deleted: true }, flags)
  }
}
