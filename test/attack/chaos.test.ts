import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { runChaos } from '../../attack/chaos/run-chaos.ts'
import { isCephInstalled } from '../harness/object-store/start-object-store.ts'
import { isSqldInstalled } from '../harness/sqld/start-sqld.ts'

const chaos = suite('chaos')
const test = isSqldInstalled() && isCephInstalled() ? chaos : chaos.skip

/** A short version of `npm run chaos`. */
test('daemons are killed and servers are away: nothing acknowledged is lost, and nothing is done twice', async () => {
  const { amount, figure, violations } = await runChaos({ minutes: 0.2, seed: 17, storagePauseSeconds: 2 })
  console.log(`${amount}: ${figure}`)
  assert.equal(violations, [])
})

chaos.run()
