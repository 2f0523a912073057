/** Lists the settings. */

import { defaultModel, SETTINGS } from '../../src/cli/daemon/config-settings.ts'
import { CadreCommand } from '../../src/cli/oclif/base-command.ts'
import { readSettings } from '../../src/config.ts'

export default class ConfigList extends CadreCommand {
  static override description =
    'List the settings of this command line, and the default model.\n\nA token is not shown. The default model is kept by the service, which is not started for this: where none runs, it is left out.'
  static override examples = [{ command: 'cadre config list', description: 'What is set, and what it is for' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(ConfigList)
    const current: Record<string, unknown> = { ...readSettings(this.paths) }
    if (current.token !== undefined) current.token = '(set)'
    const model = await defaultModel(() => this.connect({ ...flags, start: false }), this.narrate)
    if (this.formatOf(flags) !== 'table') return this.print({ data: { ...current, ...(model && { 'default-model': model.id }) } }, flags)
    const values: Record<string, unknown> = { ...current, 'default-model': model?.name }
    const rows = Object.entries(SETTINGS).map(([setting, meaning]) => ({ setting, value: values[setting] ?? '', meaning }))
    await this.print({ data: rows }, flags)
    this.narrate(`Kept in ${this.paths.settings}`)
  }
}
