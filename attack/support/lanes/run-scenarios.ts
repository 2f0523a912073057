/** Runs scenarios two at a time, then those that measure, one after another. */
import type { Result } from '../format-table.ts'
import type { Scenario, ScenarioOptions } from '../scenario.ts'
import { Lane } from './lane.ts'

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
  const [first, second] = [new Lane(), new Lane()]
  try {
    // From the last one: the first ones use two cores by themselves, so that none is unused at the end.
    const beside = scenarios.filter(({ runsAlone }) => !runsAlone)
    await Promise.all([runAll(beside, first), runAll(beside, second)])
    second.close()
    await runAll(scenarios.filter(({ runsAlone }) => runsAlone).reverse(), first)
  } finally {
    first.close()
    second.close()
  }
  return scenarios.flatMap(({ name }) => results.filter((result) => result.name === name))
}
