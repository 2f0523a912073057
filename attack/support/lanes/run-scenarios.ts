/** Runs several scenarios at a time, then those that measure, one after another. */
import type { Result } from '../format-table.ts'
import type { Scenario, ScenarioOptions } from '../scenario.ts'
import { Lane } from './lane.ts'

/** One more than the cores of the machine for which the amounts are meant: many scenarios wait for limits of time to pass. */
const LANES = 3

/** Returns the results in the order of the scenarios. Each is also reported when it ends. */
export async function runScenarios(
  scenarios: readonly Scenario[],
  options: ScenarioOptions,
  report: (result: Result) => void,
): Promise<Result[]> {
  const results: Result[] = []
  const runAll = async (queue: Scenario[], lane: Lane) => {
    for (let scenario = queue.pop(); scenario !== undefined; scenario = queue.pop()) {
      const { name, promise } = scenario
      const startedAt = performance.now()
      const outcome = await lane.run({ name, ...options })
      const result = { name, promise, seconds: (performance.now() - startedAt) / 1000, ...outcome }
      results.push(result)
      report(result)
    }
  }
  const lanes = Array.from({ length: LANES }, () => new Lane())
  try {
    // From the last one: the first ones use two cores by themselves, so that none is unused at the end.
    const beside = scenarios.filter(({ runsAlone }) => !runsAlone)
    await Promise.all(lanes.map((lane) => runAll(beside, lane)))
    for (const lane of lanes.slice(1)) lane.close()
    await runAll(scenarios.filter(({ runsAlone }) => runsAlone).reverse(), lanes[0] as Lane)
  } finally {
    for (const lane of lanes) lane.close()
  }
  return scenarios.flatMap(({ name }) => results.filter((result) => result.name === name))
}
