import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { boolean } from '@oclif/core/flags'
import { deleteHome, listForeignEntries, listKeychainEntries, measureHome, requireHome } from '../src/cli/daemon/delete-home.ts'
import { removeService } from '../src/cli/daemon/service-unit.ts'
import { CadreCommand } from '../src/cli/oclif/base-command.ts'
import { confirm, yesFlag } from '../src/cli/terminal/confirm.ts'
import { formatBytes } from '../src/cli/terminal/format-quantity.ts'
import { readProfiles } from '../src/client/profiles.ts'
import { stopDaemon } from '../src/client/stop-daemon.ts'

export default class Uninstall extends CadreCommand {
  static override description =
    'Stop the daemon, remove its service and say what remains.\n\n' +
    'With --purge, also deletes the home with all agents, documents, conversations and secrets, after confirmation. The npm package ' +
    'itself is removed with npm uninstall -g cadre.'
  static override examples = [
    { command: 'cadre uninstall', description: 'Stop and unregister the daemon, and keep the data' },
    { command: 'cadre uninstall --purge', description: 'Also delete all data' },
  ]
  static override flags = {
    purge: boolean({ description: 'Delete the home and the entries in the keychain.' }),
    yes: yesFlag,
  }

  override async run(): Promise<void> {
    const { flags } = await this.parse(Uninstall)
    this.requireLocal(flags)
    const { home } = this.paths
    const exists = existsSync(home)
    // Asked first, so that nothing is stopped if the answer is no.
    if (flags.purge && exists) {
      requireHome(this.paths)
      this.notify(`${home} holds ${formatBytes(measureHome(home))}: agents, documents, conversations and secrets.`)
      await confirm('Delete all of it? It cannot be restored.', flags.yes)
    }
    const stopped = await stopDaemon(this.paths)
    this.notify(stopped ? 'Stopped the Cadre daemon.' : 'The Cadre daemon is not running.')
    const service = removeService(join(this.config.root, 'bin', 'run.js'), home)
    if (service) this.notify(`Deleted the service ${service}.`)
    const kept = flags.purge && exists ? await this.#purge() : await this.#listData(exists)
    const remains = [...kept, 'the program (to remove it: npm uninstall -g cadre)']
    this.notify(`What remains:\n${remains.map((line) => `  ${line}`).join('\n')}`)
    await this.printUnlessTable({ stopped, service: service ?? null, purged: flags.purge, remains }, flags)
  }

  async #purge(): Promise<string[]> {
    const { home } = this.paths
    await deleteHome(this.paths, this.notify)
    const foreign = listForeignEntries(this.paths)
    this.notify(foreign.length > 0 ? `Deleted the data in ${home}.` : `Deleted ${home}.`)
    return foreign.length > 0 ? [`${home} with files that are not Cadre's: ${foreign.slice(0, 5).join(', ')}`] : []
  }

  async #listData(exists: boolean): Promise<string[]> {
    if (!exists) return []
    const { home } = this.paths
    const profiles = Object.keys(readProfiles(this.paths).profiles)
    return [
      `your data: ${home}, ${formatBytes(measureHome(home))} (to delete it: cadre uninstall --purge)`,
      ...(await listKeychainEntries(this.paths)).map((name) => `${name} in the keychain`),
      ...(profiles.length > 0 ? [`profiles of remote services: ${profiles.join(', ')} (to delete one: cadre profiles delete NAME)`] : []),
    ]
  }
}
