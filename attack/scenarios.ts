/** All attack scenarios, in the order in which they run. */
import { access } from './scenarios/access.ts'
import { addresses } from './scenarios/addresses.ts'
import { clockJumps } from './scenarios/clock-jumps.ts'
import { damagedFiles } from './scenarios/disks/damaged-files.ts'
import { fullDisk } from './scenarios/disks/full-disk.ts'
import { powerCuts } from './scenarios/disks/power-cuts.ts'
import { escapeSequences } from './scenarios/escape-sequences.ts'
import { heap } from './scenarios/heap.ts'
import { hostileDocuments } from './scenarios/hostile-documents.ts'
import { identicalKeys } from './scenarios/identical-keys.ts'
import { kills } from './scenarios/kills.ts'
import { malformedRequests } from './scenarios/malformed-requests.ts'
import { memories } from './scenarios/memory/memories.ts'
import { rememberedDocuments } from './scenarios/memory/remembered-documents.ts'
import { parallelStarts } from './scenarios/parallel-starts.ts'
import { confirmations } from './scenarios/peers/confirmations.ts'
import { endlessResponses } from './scenarios/peers/endless-responses.ts'
import { impostors } from './scenarios/peers/impostors.ts'
import { mcpServers } from './scenarios/peers/mcp-servers.ts'
import { repositories } from './scenarios/peers/repositories.ts'
import { restores } from './scenarios/peers/restores.ts'
import { providers } from './scenarios/providers.ts'
import { secrets } from './scenarios/secrets.ts'
import { budgets } from './scenarios/sharing/budgets.ts'
import { fairness } from './scenarios/sharing/fairness.ts'
import { sigterm } from './scenarios/sigterm.ts'
import { slowPatterns } from './scenarios/slow-patterns.ts'
import { sqlQueries } from './scenarios/sql-queries.ts'
import { streams } from './scenarios/streams.ts'
import { unreadResponses } from './scenarios/unread-responses.ts'
import { upgrades } from './scenarios/upgrades.ts'
import type { Scenario } from './support/scenario.ts'

export const SCENARIOS: readonly Scenario[] = [
  kills,
  powerCuts,
  fullDisk,
  damagedFiles,
  streams,
  unreadResponses,
  providers,
  malformedRequests,
  heap,
  clockJumps,
  sigterm,
  parallelStarts,
  identicalKeys,
  access,
  addresses,
  secrets,
  hostileDocuments,
  escapeSequences,
  upgrades,
  slowPatterns,
  sqlQueries,
  impostors,
  budgets,
  mcpServers,
  confirmations,
  restores,
  endlessResponses,
  repositories,
  fairness,
  memories,
  rememberedDocuments,
]
