/** Lists the settings. */
import { CadreCommand } from '../../src/cli/base-command.ts'
import { SETTINGS } from '../../src/cli/settings.ts'
import { readSettings } from '../../src/config.ts'

export default class ConfigList extends CadreCommand {
  static override description =
    'List the settings of this command line.\n\nA token is not shown. The default model, which the service keeps, is in cadre config get default-model.'
  static override examples = [{ command: 'cadre config list', description: 'What is set, and what it is for' }]

  override async run(): Promise<void> {
    const { flags } = await this.parse(ConfigList)
    const current: Record<string, unknown> = { ...readSettings(this.paths) }
    if (current.token !== undefined) current.token = '(set)'
    if (this.formatOf(flags) !== 'table') return this.print({ data: current }, flags)
    const rows = Object.entries(SETTINGS)
      .filter(([name]) => name !== 'default-model')
      .map(([setting, meaning]) => ({ setting, value: current[setting] ?? '', meaning }))
    await this.print({ data: rows }, flags)
    this.narrate(`Kept in ${this.paths.settings}`)
  }
}
