/** The fuzz campaign of the tests with a seed of the day: `tsx bench/fuzz.ts [requests] [seed]`. */
import { randomInt } from 'node:crypto'
import { campaign } from '../test/fuzz/campaign.ts'
import { Service } from '../test/harness/app.ts'

const [requests = '10000', given] = process.argv.slice(2)
const seed = given === undefined ? randomInt(2 ** 31) : Number(given)
console.log(`seed ${seed}`)
const service = await Service.start()
try {
  console.log(await campaign(service, seed, Number(requests)))
} finally {
  await service.end()
}
