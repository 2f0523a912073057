/** Records docs/recording.svg: a short session with this build in a real terminal and a temporary home. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { homedir, hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_PORT } from '../src/config.ts'
import { openTerminal } from '../test/harness/cli.ts'
import { openShell } from '../test/harness/tmux-terminal.ts'
import { renderTerminalSvg } from './terminal-svg.ts'

const COLUMNS = 92
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const TARGET = join(ROOT, 'docs', 'recording.svg')

const HANDBOOK = {
  'leave.md':
    '# Leave\n\nEvery employee has twenty-eight days of paid leave a year. ' +
    'Up to five days that are left can be taken until the end of March.\n\n' +
    '## How to ask\n\nAsk for leave two weeks ahead, in the calendar. Your team lead answers within three days.\n',
  'travel.md':
    '# Travel\n\nTrips under 500 euros need no approval. ' +
    'Longer or dearer ones are approved by the team lead, and above 3,000 euros by the head of finance.\n',
  'equipment.md': '# Equipment\n\nEverybody chooses a laptop and a screen. They are replaced after four years, or when they break.\n',
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}

const folder = mkdtempSync(join(tmpdir(), 'cadre-recording-'))
mkdirSync(join(folder, 'handbook'))
for (const [name, text] of Object.entries(HANDBOOK)) writeFileSync(join(folder, 'handbook', name), text)
// Uses the default port; if it is taken, the URL in the recording is replaced.
const defaultUrl = `http://127.0.0.1:${DEFAULT_PORT}`
const terminal = openTerminal((await isFree(DEFAULT_PORT)) ? { CADRE_PORT: String(DEFAULT_PORT) } : {})
const screen = openShell(terminal, COLUMNS)
const prompt = /\n\$$/
try {
  screen.type(`cd '${folder}'; clear`)
  await screen.waitFor(/^\$$/)
  screen.type('cadre quickstart ./handbook --no-chat')
  await screen.waitFor('What would you like to know?')
  screen.type('How many days of paid leave do I have?')
  await screen.waitFor(prompt)
  screen.type('cadre ask handbook "When is my laptop replaced?"')
  await screen.waitFor(/my laptop replaced[\s\S]*\n\$$/)
  const recording = screen
    .readWithColors()
    .replace(/\n[^\n]*$/, '')
    .replaceAll(terminal.url(), defaultUrl)
  for (const secret of [folder, terminal.home, tmpdir(), homedir(), hostname(), ROOT])
    if (secret.length > 1 && recording.includes(secret)) throw new Error(`The recording contains ${secret}, which identifies this machine.`)
  writeFileSync(
    TARGET,
    renderTerminalSvg(recording, { title: 'Cadre reads a folder and answers questions from it, with citations', columns: COLUMNS }),
  )
  process.stdout.write(`${TARGET}\n`)
} finally {
  screen.close()
  await terminal.close()
  rmSync(folder, { recursive: true, force: true })
}
