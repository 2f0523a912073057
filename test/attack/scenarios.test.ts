import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { access } from '../../attack/scenarios/access.ts'
import { clockJumps } from '../../attack/scenarios/clock-jumps.ts'
import { powerCuts } from '../../attack/scenarios/disks/power-cuts.ts'
import { identicalKeys } from '../../attack/scenarios/identical-keys.ts'
import { memories } from '../../attack/scenarios/memory/memories.ts'
import { rememberedDocuments } from '../../attack/scenarios/memory/remembered-documents.ts'
import { sigterm } from '../../attack/scenarios/sigterm.ts'
import { upgrades } from '../../attack/scenarios/upgrades.ts'
import type { Scenario } from '../../attack/support/scenario.ts'

/** Scenarios of `npm run attack` that are fast with small amounts. The others have tests next to what they attack. */
const FAST: readonly [Scenario, scale: number][] = [
  [access, 1],
  [clockJumps, 0.17],
  [identicalKeys, 0.1],
  [memories, 0.02],
  [powerCuts, 0.02],
  [rememberedDocuments, 1],
  [sigterm, 0.1],
  [upgrades, 0.1],
]
const SEED = 20_261

const test = suite('attack scenarios')

for (const [{ name, promise, run }, scale] of FAST)
  test(`${name}: ${promise}`, async () => {
    const { amount, figure, violations } = await run({ scale, seed: SEED })
    console.log(`${amount}: ${figure}`)
    assert.equal(violations, [])
  })

test.run()
