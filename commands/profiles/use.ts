import { string } from '@oclif/core/args'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { resolveSelectedProfile } from '../../src/client/address.ts'
import { changeProfiles, LOCAL_PROFILE, requireProfile } from '../../src/client/profiles.ts'

export default class ProfilesUse extends CadreCommand {
  static override description = 'Select the profile that commands use.\n\nCADRE_URL, CADRE_PROFILE and --profile take precedence.'
  static override examples = [
    { command: 'cadre profiles use team', description: 'Use a remote service' },
    { command: 'cadre profiles use local', description: 'Use the daemon of this machine' },
  ]
  static override args = { name: string({ required: true, ignoreStdin: true, description: 'Name of the profile.' }) }

  override async run(): Promise<void> {
    const { args, flags } = await this.parse(ProfilesUse)
    const { name } = args
    const target = name === LOCAL_PROFILE ? 'the daemon of this machine' : requireProfile(this.paths, name).url
    await changeProfiles(this.paths, (current) => ({ ...current, current: name }))
    this.notify(`Commands now use ${target}.`)
    if (resolveSelectedProfile(this.paths) !== name) this.notify('In this shell, CADRE_URL or CADRE_PROFILE takes precedence.')
    await this.printUnlessTable({ name, current: true }, flags)
  }
}
