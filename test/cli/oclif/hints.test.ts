/** Commands in hints, errors, examples and help exist, and so do their flags. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

interface Manifest {
  commands: Record<string, { aliases?: string[]; flags: Record<string, { char?: string; allowNo?: boolean; aliases?: string[] }> }>
}

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const test = suite('commands in messages')
const manifest = JSON.parse(readFileSync(join(ROOT, 'oclif.manifest.json'), 'utf8')) as Manifest

const flagsByCommand = new Map(
  Object.entries(manifest.commands).flatMap(([id, { flags, aliases = [] }]) => {
    const known = Object.entries(flags).flatMap(([name, { allowNo, aliases: others = [] }]) => [
      name,
      ...others,
      ...(allowNo ? [`no-${name}`] : []),
    ])
    return [id, ...aliases].map((name) => [name, new Set([...known, 'help', 'version'])] as const)
  }),
)

/** Returns the commands of the text whose flags do not exist. */
function findUnknownFlags(text: string): string[] {
  const joined = text.replaceAll(/['`] ?\+\n\s+['`]/g, '')
  const commands = joined.matchAll(/\bcadre ((?:[a-z][a-z-]* )*[a-z][a-z-]*)((?:(?!\bcadre |\. |, |\\n)[^\n`"';|&])*)/g)
  return [...commands].flatMap(([whole, path = '', rest = '']) => {
    const words = path.trim().split(' ')
    const lengths = words.map((_, index) => words.length - index)
    const id = lengths.map((length) => words.slice(0, length).join(':')).find((candidate) => flagsByCommand.has(candidate))
    const known = id === undefined ? undefined : flagsByCommand.get(id)
    const flags = [...rest.matchAll(/(?<=^|\s)--([a-z][a-z-]*)/g)].map(([, name]) => name as string)
    return known && flags.some((flag) => !known.has(flag)) ? [whole] : []
  })
}

test('a command with a flag that does not exist is found', () => {
  assert.equal(findUnknownFlags("hint: 'To add it: cadre knowledge add X --allow-private'"), ['cadre knowledge add X --allow-private'])
  assert.equal(findUnknownFlags("hint: 'To add it: cadre knowledge add X --allow-private-network'"), [])
})

for (const folder of ['commands', 'src', 'daemon', 'docs'])
  test(`flags of commands in ${folder} exist`, () => {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).filter((file) => /\.(tsx?|md)$/.test(file))
    const unknown = files.flatMap((file) =>
      findUnknownFlags(readFileSync(join(ROOT, folder, file), 'utf8')).map((found) => `${file}: ${found}`),
    )
    assert.equal(unknown, [])
  })

test('the hint for a private address names the field of the API and the flag of the CLI', () => {
  const text = readFileSync(join(ROOT, 'daemon/outbound/check-address.ts'), 'utf8')
  assert.match(text, 'allow_private_network (--allow-private-network in the CLI)')
  for (const id of ['knowledge:add', 'tools:create', 'tools:update', 'tools:import', 'webhooks:create', 'webhooks:update'])
    assert.ok(flagsByCommand.get(id)?.has('allow-private-network'), id)
})

test.run()
