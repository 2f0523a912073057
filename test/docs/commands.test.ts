import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createCommandReference } from '../../scripts/commands.ts'

const test = suite('command reference')
const FOLDER = fileURLToPath(new URL('../../docs/commands/', import.meta.url))

test('docs/commands is current; npm run commands writes it', () => {
  const pages = createCommandReference()
  assert.equal(readdirSync(FOLDER).sort(), [...pages.keys()])
  for (const [name, text] of pages) assert.is(readFileSync(FOLDER + name, 'utf8'), text, `docs/commands/${name} is not current`)
  assert.match(pages.get('README.md') ?? '', '* [`cadre knowledge`](knowledge.md)')
  assert.match(pages.get('knowledge.md') ?? '', '$ cadre knowledge describe PATH')
})

test.run()
