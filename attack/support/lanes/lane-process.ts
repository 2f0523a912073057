/** The process of a lane: runs the scenario in each message and answers with its outcome. */
import { SCENARIOS } from '../../scenarios.ts'
import { describeFailure, type Task } from './lane.ts'

process.on('message', async ({ name, ...options }: Task) => {
  const scenario = SCENARIOS.find((each) => each.name === name)
  const outcome = await scenario?.run(options).catch((error: Error) => describeFailure(error.stack ?? String(error)))
  process.send?.(outcome)
})
// Connections and servers of a failed scenario must not keep the process alive.
process.on('disconnect', () => process.exit())
