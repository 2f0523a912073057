/** All attack scenarios, in the order in which they run. */
import { access } from './scenarios/access.ts'
import { heap } from './scenarios/heap.ts'
import { identicalKeys } from './scenarios/identical-keys.ts'
import { kills } from './scenarios/kills.ts'
import { malformedRequests } from './scenarios/malformed-requests.ts'
import { parallelStarts } from './scenarios/parallel-starts.ts'
import { sigterm } from './scenarios/sigterm.ts'
import { streams } from './scenarios/streams.ts'
import type { Scenario } from './support/scenario.ts'

export const SCENARIOS: readonly Scenario[] = [kills, streams, heap, sigterm, parallelStarts, identicalKeys, malformedRequests, access]
