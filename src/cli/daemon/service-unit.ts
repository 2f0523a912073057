/** Service files for the daemon: a systemd user unit on Linux, a launchd agent on macOS. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { DAEMON_ENVIRONMENT } from '../../config.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'

interface Service {
  file: string
  text: string
  /** Links created when the service is enabled. */
  links: string[]
  enable: string
  disable: string
}

interface ServiceOptions {
  node?: string
  run: string
  home: string
  /** Arguments of `cadre daemon run`. */
  arguments?: readonly string[]
  platform?: NodeJS.Platform
  environment?: NodeJS.ProcessEnv
}

const LABEL = 'dev.cadre.daemon'
/** Of stopping the service. */
const TIMEOUT_MS = 20_000

export function createService({ platform = process.platform, ...options }: ServiceOptions): Service {
  if (platform === 'linux') return createSystemdUnit(options)
  if (platform === 'darwin') return createLaunchdAgent(options)
  throw new UsageError(`Services are not supported on ${platform}.`, 'Configure your service manager to run: cadre daemon run')
}

function createSystemdUnit({
  node = process.execPath,
  run,
  home,
  arguments: words = [],
  environment = process.env,
}: ServiceOptions): Service {
  const quote = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%').replaceAll('$', '$$$$')}"`
  const setting = (text: string) => `"${text.replaceAll(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`
  const text = `[Unit]
Description=Cadre, AI agents over your own documents
After=network.target

[Service]
ExecStart=${[node, run, 'daemon', 'run', ...words].map(quote).join(' ')}
Environment=${setting(`CADRE_HOME=${home}`)}
${Object.entries(DAEMON_ENVIRONMENT)
  .map(([name, value]) => `Environment=${name}=${value}`)
  .join('\n')}
Restart=on-failure
RestartPreventExitStatus=2 75
TimeoutStopSec=15
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`
  const folder = join(environment.XDG_CONFIG_HOME || join(homedir(), '.config'), 'systemd', 'user')
  return {
    file: join(folder, 'cadre.service'),
    text,
    links: [join(folder, 'default.target.wants', 'cadre.service')],
    enable: 'systemctl --user daemon-reload && systemctl --user enable --now cadre',
    disable: 'systemctl --user stop cadre; systemctl --user daemon-reload',
  }
}

function createLaunchdAgent({ node = process.execPath, run, home, arguments: words = [] }: ServiceOptions): Service {
  const xml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${[node, run, 'daemon', 'run', ...words].map((word) => `    <string>${xml(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict><key>CADRE_HOME</key><string>${xml(home)}</string></dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>
  <key>ExitTimeOut</key><integer>15</integer>
</dict>
</plist>
`
  const file = join(homedir(), 'Library', 'LaunchAgents', `${LABEL}.plist`)
  return { file, text, links: [], enable: `launchctl bootstrap gui/$(id -u) '${file}'`, disable: `launchctl bootout gui/$(id -u)/${LABEL}` }
}

/** Stops and deletes the service. Returns its file, or undefined if there is none. */
export function removeService(run: string, home: string): string | undefined {
  const service = findService(run, home)
  if (!service || !existsSync(service.file)) return undefined
  const runDisable = () => spawnSync('/bin/sh', ['-c', service.disable], { stdio: 'ignore', timeout: TIMEOUT_MS })
  // launchd needs the file to stop the service, systemd forgets it only afterwards. Neither need be running.
  runDisable()
  for (const path of [service.file, ...service.links]) rmSync(path, { force: true })
  runDisable()
  return service.file
}

/** Undefined on platforms without services. */
function findService(run: string, home: string): Service | undefined {
  try {
    return createService({ run, home })
  } catch (error) {
    if (error instanceof UsageError) return undefined
    throw error
  }
}
