import { listSettings, readServiceSettings, SETTINGS } from '../../src/cli/daemon/config-settings.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'

export default class ConfigList extends CadreCommand {
  static override description =
    'List the settings.\n\nTokens are masked. The default model and the currency are shown only while the service is running.'
  static override examples = [{ command: 'cadre config list', description: 'List all settings' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(ConfigList)
    const current: Record<string, unknown> = { ...listSettings(this.paths, flags.profile) }
    if (current.token !== undefined) current.token = '(set)'
    const service = await readServiceSettings(() => this.connect({ ...flags, start: false }), this.notify)
    if (this.getFormat(flags) !== 'table')
      return this.print({ data: { ...current, ...(service && { 'default-model': service.model.id, currency: service.currency }) } }, flags)
    const values: Record<string, unknown> = { ...current, 'default-model': service?.model.name, currency: service?.currency }
    const rows = Object.entries(SETTINGS).map(([setting, meaning]) => ({ setting, value: values[setting] ?? '', meaning }))
    await this.print({ data: rows }, flags)
    this.notify(`Stored in ${this.paths.settings}`)
  }
}
