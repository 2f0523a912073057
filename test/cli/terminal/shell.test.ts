/** Commands in a shell at a real terminal, with one daemon: updates, knowledge, search, reports and backups. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openTerminal, type Terminal } from '../../harness/cli.ts'
import { reportFailure } from '../../harness/hooks.ts'
import { ScriptedProvider, streamText } from '../../harness/scripted-provider.ts'
import { hasTmux, openShell, type TmuxTerminal } from '../../harness/tmux-terminal.ts'

const test = suite('commands in a shell')
const atTerminal = hasTmux ? test : test.skip
let terminal: Terminal
let provider: ScriptedProvider
let shell: TmuxTerminal
let folder: string

test.before(
  reportFailure(async () => {
    if (!hasTmux) return
    terminal = openTerminal()
    folder = join(terminal.home, '..')
    await terminal.run(['daemon', 'start'])
    provider = await ScriptedProvider.start('openai', streamText('Twenty-five days of annual leave.'))
    const create = async (path: string, body: object) => (await terminal.request('POST', path, body)).data.id as string
    const model = await create('/models', { name: 'scripted', ...provider.model })
    const agent = await create('/agents', { name: 'Helper', model_id: model })
    const conversation = await create('/conversations', { agent_id: agent, title: 'Leave' })
    await terminal.request('POST', `/conversations/${conversation}/messages`, { message: 'How many days?' })
    const cases = [{ input: 'How many days?', expected_output: 'Twenty-five' }]
    await create('/evaluations', { name: 'Smoke', type: 'agent', target_id: agent, test_cases: cases })
    mkdirSync(join(folder, 'notes'))
    writeFileSync(join(folder, 'notes', 'a.md'), '# A\n\nThe printer is on the third floor.\n')
    writeFileSync(join(folder, 'notes', 'broken.pdf'), '%PDF-1.7\nnothing')
    shell = openShell(terminal, 100)
    shell.type(`cd '${folder}'; clear`)
  }),
)
test.after(
  reportFailure(async () => {
    if (!hasTmux) return
    shell.close()
    await terminal.close()
    await provider.close()
  }),
)

atTerminal('knowledge add --quiet is quiet, and unreadable documents are counted apart', async () => {
  const screen = await shell.run('cadre knowledge add notes -q; echo "added $?"; cadre knowledge show notes')
  assert.match(screen, /^added 0\n/)
  assert.match(screen, /indexed: 1\n +unreadable: 1\n/)
  const refused = await shell.run('cadre knowledge add http://127.0.0.1:9/docs')
  assert.match(refused, '--allow-private-network')
})

atTerminal(
  'updates print what changed: single tools, prices per million tokens, named thresholds, and variables in any script',
  async () => {
    const tools = await shell.run('cadre agents update Helper --add-tool notes && cadre agents update Helper --remove-tool notes')
    assert.match(tools, /tools: added notes\n[\s\S]*tools: removed notes\n/)
    const prices = await shell.run('cadre models update scripted --pricing input_per_million=0.15,output_per_million=0.6')
    assert.match(prices, /input_per_million: 0\.15\n +output_per_million: 0\.6\n/)
    const budget = '--name Budget --metric cost --limit 20 --period month'
    assert.match(
      await shell.run(`cadre usage thresholds create ${budget} && cadre usage thresholds update Budget --limit 30`),
      'threshold Budget',
    )
    const rendered = await shell.run(
      `cadre prompts create --name size --template 'Size {{größe}}' -o csv && cadre prompts render size --var größe=XL`,
    )
    assert.match(rendered, /^Size XL$/m)
  },
)

atTerminal('conversations are searched, and reports are written', async () => {
  const found = await shell.run('cadre conversations search annual leave')
  assert.match(found, /Leave[\s\S]*Helper · .* · 1 matching message[\s\S]*Twenty-five days of annual leave\./)
  const report = await shell.run('cadre evaluations run Smoke && cadre evaluations report Smoke --markdown')
  assert.match(report, '### Evaluation `Smoke`: ')
  await shell.run('cadre evaluations report Smoke --html e.html && cadre usage --html u.html && cadre analytics --html a.html')
  assert.match(await shell.run('cadre conversations export Leave --html c.html'), 'exit 0')
  for (const name of ['e', 'u', 'a', 'c']) assert.match(readFileSync(join(folder, `${name}.html`), 'utf8'), /^<!doctype html>/)
})

atTerminal('doctor suggests a backup, which is verified and restored into an empty home', async () => {
  assert.match((await shell.run('cadre doctor')).replaceAll(/\s+/g, ' '), 'cadre backup')
  assert.match(await shell.run('cadre backup cadre.tar.gz --verify'), /cadre\.tar\.gz[\s\S]*exit 0/)
  const restored = join(folder, 'restored')
  assert.match(await shell.run(`CADRE_HOME='${restored}' cadre restore cadre.tar.gz`), 'exit 0')
  assert.ok(existsSync(join(restored, 'cadre.db')))
})

atTerminal('Ctrl+C during knowledge add says that the daemon continues, and status shows it', async () => {
  mkdirSync(join(folder, 'large'))
  for (let file = 0; file < 40; file++) {
    const parts = Array.from(
      { length: 15 },
      (_, part) => `## Part ${part}\n\n${`Drawer ${file * 15 + part} is not empty. `.repeat(25)}\n\n`,
    )
    writeFileSync(join(folder, 'large', `${file}.md`), parts.join(''))
  }
  shell.start('cadre knowledge add large')
  await shell.waitFor(/(Reading|Indexing) [█░]+ +\d+ %/)
  shell.press('C-c')
  assert.match(await shell.waitForExit(), 'The daemon continues to index large in the background.')
  assert.match(await shell.run('cadre status'), /indexing +large: (reading|indexing), [\d,]+ of [\d,]+ (files|passages)/)
  await shell.run('cadre knowledge sync large --cancel')
})

test.run()
