/** The composition root: every part is made here and handed what it needs. */
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Paths } from '../src/config.ts'
import { createOpenapiDocument } from '../src/contract/openapi.ts'
import { DEFAULT_EMBEDDING_MODEL } from '../src/contract/schemas/passages.ts'
import { bindAgentRoutes } from './agents/routes.ts'
import { AgentsService } from './agents/service.ts'
import { bindAnalyticsRoutes } from './analytics/routes.ts'
import { AnalyticsService } from './analytics/service.ts'
import { bindApiToolRoutes } from './api-tools/routes.ts'
import { ApiToolsService } from './api-tools/service.ts'
import { bindAsCodeRoutes } from './as-code/routes.ts'
import { AsCodeService } from './as-code/service.ts'
import { type Clock, systemClock } from './async/clock.ts'
import { createConversations } from './conversations/create-conversations.ts'
import { EventBus } from './core/event-bus.ts'
import { getModelsDirectory } from './embedding/paths.ts'
import { EmbeddingService } from './embedding/service.ts'
import { createTargets } from './evaluations/create-targets.ts'
import { bindEvaluationRoutes } from './evaluations/routes.ts'
import { RunExecutor } from './evaluations/run-executor.ts'
import { RunsService } from './evaluations/run-service.ts'
import { ScorerToolFactory } from './evaluations/scorer-tool-factory.ts'
import { EvaluationsService } from './evaluations/service.ts'
import { HostGuard } from './http/host-guard.ts'
import { Idempotency } from './http/idempotency.ts'
import { RateLimiter } from './http/rate-limiter.ts'
import { createServer } from './http/server.ts'
import { createKnowledge } from './knowledge/create-knowledge.ts'
import { sealLogins } from './knowledge/source-auth.ts'
import { createModels } from './models/create-models.ts'
import type { DiscoveryOptions } from './models/model-discovery.ts'
import type { ProviderTimeouts } from './models/providers/http-exchange.ts'
import { createOutbound } from './outbound/client.ts'
import type { Resolve } from './outbound/guarded-connector.ts'
import { createMissingDatabaseError } from './process/home.ts'
import { bindPromptTemplateRoutes } from './prompt-templates/routes.ts'
import { PromptTemplatesService } from './prompt-templates/service.ts'
import { bindRagToolRoutes } from './rag-tools/routes.ts'
import { RagToolsService } from './rag-tools/service.ts'
import { bindRetrievalToolRoutes } from './retrieval-tools/routes.ts'
import { RetrievalToolsService } from './retrieval-tools/service.ts'
import type { Vault } from './secrets/vault.ts'
import { openDatabase } from './store/database.ts'
import { isBlank, migrate } from './store/migrations.ts'
import { OriginalStore } from './store/original-store.ts'
import { VectorStore } from './store/vector-store.ts'
import type { WriteAheadLog } from './store/write-ahead-log.ts'
import { bindSystemRoutes } from './system/routes.ts'
import { SystemService } from './system/service.ts'
import { ensureAdminToken } from './tokens/ensure-admin-token.ts'
import { bindTokenRoutes } from './tokens/routes.ts'
import { TokensService } from './tokens/service.ts'
import { bindUsageRoutes } from './usage/routes.ts'
import { UsageThresholdsService } from './usage/service.ts'
import { UsageMeter } from './usage/usage-meter.ts'
import { UsageReports } from './usage/usage-reports.ts'
import { createValidator } from './validation/validator.ts'
import { DeliveriesService } from './webhooks/delivery-service.ts'
import { Dispatcher } from './webhooks/dispatcher.ts'
import { EventLog } from './webhooks/event-log.ts'
import { EventRetention } from './webhooks/event-retention.ts'
import { Outbox } from './webhooks/outbox.ts'
import { bindWebhookRoutes } from './webhooks/routes.ts'
import { WebhooksService } from './webhooks/service.ts'

export interface AppOptions {
  paths: Paths
  logger: FastifyBaseLogger
  vault: Vault
  rateLimit: number
  version: string
  modelDiscovery: DiscoveryOptions
  /** Becomes the admin token at the first start, instead of a new one. */
  adminToken: string | undefined
  /** Whether the home's owner asks for a new admin token. */
  recoverToken?: boolean | undefined
  /** Where names are looked up; the system's resolver unless a test has its own. */
  resolve?: Resolve | undefined
  providerTimeouts?: Partial<ProviderTimeouts> | undefined
  /** Keeps the first admin token where the command line finds it; called before the database knows it. */
  keepToken(token: string): Promise<void>
  /** By whose time webhooks are sent and tried again, and what the jitter of that is made of. */
  clock?: Clock
  random?: () => number
  /** How commits get to the disk, where a test has a slow one. */
  disk?: (databasePath: string) => WriteAheadLog
}

export interface App {
  server: FastifyInstance
  /** No new work from now on: every request is answered 503. */
  drain(): void
  close(): Promise<void>
  /** Tells the door at which address it is. */
  listening(url: string): void
}

export async function createApp(options: AppOptions): Promise<App> {
  const { paths, logger, vault, rateLimit, version, adminToken, recoverToken, resolve, keepToken } = options
  const { clock = systemClock, random = Math.random } = options
  const database = openDatabase(paths.database, options.disk?.(paths.database))
  const originals = new OriginalStore(paths.documents)
  if ((await isBlank(database)) && (await originals.hasAny())) {
    await database.close()
    throw createMissingDatabaseError(paths)
  }
  await migrate(database)
  await sealLogins(database, vault, logger)
  const vectors = new VectorStore(paths.vectors)
  const validator = createValidator()
  const events = new EventBus()

  const now = () => new Date()
  const meter = new UsageMeter({ database, events, now })
  const tokens = new TokensService(database)
  const modelFamily = createModels({
    database,
    vault,
    discovery: options.modelDiscovery,
    resolve,
    timeouts: options.providerTimeouts,
    invalidateEmbeddings: (transaction, id) => knowledge.service.rebuildIndexes(transaction, id),
    getEmbedder: () => embedding.getEmbedder(DEFAULT_EMBEDDING_MODEL),
    meter,
  })
  const models = modelFamily.service
  const templates = new PromptTemplatesService(database)
  const outbound = createOutbound(resolve ? { resolve } : {})
  const embedding = new EmbeddingService({
    modelsDirectory: getModelsDirectory(),
    findRemoteModel: (id) => models.findCredentials(database, id),
    logger,
  })
  const knowledge = createKnowledge({
    database,
    originals,
    vectors,
    vault,
    validator,
    outbound,
    models,
    embedding,
    meter,
    logger,
    workDirectory: paths.work,
  })
  const ragTools = new RagToolsService({ database, models, knowledge: knowledge.service, validator })
  const retrievalTools = new RetrievalToolsService({ database, models, knowledge: knowledge.service, validator })
  const apiTools = new ApiToolsService({ database, vault, validator, outbound })
  const agents = new AgentsService(database, models, templates, [ragTools, retrievalTools, apiTools])
  const conversations = createConversations({
    database,
    agents,
    models,
    quoteVerifier: knowledge.service,
    meter,
    events,
    clock,
    logger,
    getIdleMinutes: async () => (await system.getSettings()).conversation_idle_minutes,
  })
  const targets = createTargets({
    database,
    models,
    templates,
    knowledge: knowledge.service,
    ragTools,
    retrievalTools,
    apiTools,
    agents,
    askOnce: conversations.askOnce,
  })
  const scoring = new ScorerToolFactory(embedding, models)
  const engine = new RunExecutor({ database, targets, scoring, meter, bus: events, logger })
  const evaluations = new EvaluationsService({ database, models, targets, engine })
  const runs = new RunsService({ database, engine, targets, evaluations })
  const thresholds = new UsageThresholdsService(database, {
    agent: agents,
    model: models,
    rag_tool: ragTools,
    prompt_template: templates,
    evaluation: evaluations,
  })
  const dispatcher = new Dispatcher({ database, vault, outbound, clock, random, logger })
  const webhooks = new WebhooksService({ database, vault, dispatcher, clock })
  const deliveries = new DeliveriesService({ database, webhooks, dispatcher, clock })
  const eventLog = new EventLog(database)
  const outbox = new Outbox(database, clock, () => {
    dispatcher.wake()
    eventLog.wake()
  })
  outbox.listen(events)
  const retention = new EventRetention(database, clock, logger)

  let address = ''
  let draining = false
  const system = new SystemService({
    paths,
    version,
    startedAt: new Date(),
    database,
    vectors,
    vault,
    models,
    getAddress: () => address,
    getQueues: () => ({ embedding: embedding.getStatus().pending }),
  })
  const asCode = new AsCodeService({
    database,
    validator,
    resources: [models, templates, knowledge.service, ragTools, retrievalTools, apiTools, agents, evaluations, thresholds, webhooks],
    settings: system,
  })
  const hostGuard = new HostGuard()
  const description = createOpenapiDocument(version)

  await ensureAdminToken(tokens, { token: adminToken, saveToken: keepToken, recover: recoverToken === true })
  await knowledge.sweep()
  await conversations.recover()
  const interrupted = await meter.recover()
  if (interrupted > 0) logger.warn({ calls: interrupted }, 'model calls that were cut off are counted by estimate')
  const door = {
    logger,
    hostGuard,
    validator,
    limiter: new RateLimiter(rateLimit),
    idempotency: new Idempotency(database, vault),
    authenticate: (secret: string) => tokens.authenticate(secret),
    isDraining: () => draining,
    openapi: description,
  }
  const server = await createServer(door, [
    ...bindSystemRoutes(system, description),
    ...bindAgentRoutes(agents),
    ...bindPromptTemplateRoutes(templates),
    ...knowledge.bindings,
    ...bindRagToolRoutes(ragTools),
    ...bindRetrievalToolRoutes(retrievalTools),
    ...conversations.bindings,
    ...modelFamily.bindings,
    ...bindEvaluationRoutes(evaluations, runs),
    ...bindAnalyticsRoutes(new AnalyticsService(database, now)),
    ...bindUsageRoutes(thresholds, new UsageReports(database, now)),
    ...bindApiToolRoutes(apiTools),
    ...bindWebhookRoutes(webhooks, deliveries, eventLog),
    ...bindTokenRoutes(tokens),
    ...bindAsCodeRoutes(asCode),
  ])
  // In the background: a daemon with much to mend answers all the same.
  const resumed = Promise.all([knowledge.resume(), engine.resume()])
  resumed.catch((error: unknown) => logger.error({ err: error }, 'what was left half done could not be taken up'))
  dispatcher.start()
  retention.start()
  conversations.start()
  return {
    server,
    drain: () => {
      draining = true
    },
    listening: (url) => {
      address = url
      hostGuard.setAddress(url)
      models.preload().catch(() => undefined) // only a moment is lost
    },
    async close() {
      draining = true
      eventLog.close()
      const sent = Promise.all([dispatcher.close(), retention.close()])
      await conversations.close()
      await resumed.catch(() => undefined) // told above
      await Promise.all([knowledge.stop(), engine.close(), scoring.close()])
      await server.close()
      await sent
      await Promise.all([knowledge.close(), embedding.close(), outbound.close(), modelFamily.close()])
      await vectors.close()
      await database.close()
    },
  }
}
