import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { findDaemonProcess, resolveSelectedProfile } from '../../src/client/address.ts'
import { LOCAL_PROFILE, readProfiles } from '../../src/client/profiles.ts'
import { environmentOverrides, readSettings } from '../../src/config.ts'

export default class ProfilesList extends CadreCommand {
  static override description = 'List the profiles.\n\nShows where each token is stored, never the token itself.'
  static override examples = [{ command: 'cadre profiles list', description: 'List the profiles' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(ProfilesList)
    const selected = flags.profile ?? resolveSelectedProfile(this.paths)
    const { url } = environmentOverrides()
    const hasOtherUrl = flags.profile === undefined && (url ?? (selected === undefined ? readSettings(this.paths).url : undefined))
    const rows = [
      { name: LOCAL_PROFILE, url: findDaemonProcess(this.paths)?.url ?? null, token: null as string | null },
      ...Object.entries(readProfiles(this.paths).profiles).map(([name, profile]) => ({
        name,
        url: profile.url,
        token: profile.token === undefined ? 'keychain' : 'file',
      })),
    ].map((row) => ({ ...row, current: !hasOtherUrl && row.name === (selected ?? LOCAL_PROFILE) }))
    await this.print({ data: rows }, flags)
    if (hasOtherUrl) this.notify(`Commands use ${hasOtherUrl}, from ${url === undefined ? 'cadre config set url' : 'CADRE_URL'}.`)
  }
}
