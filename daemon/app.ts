/** The composition root: creates all families, connects them, and starts and stops the daemon's work. */
import { bindAnalyticsRoutes } from './analytics/routes.ts'
import { createAnalyticsService } from './analytics/service.ts'
import type { App, AppOptions } from './app-options.ts'
import { bindAsCodeRoutes } from './as-code/routes.ts'
import { AsCodeService } from './as-code/service.ts'
import { systemClock } from './async/clock.ts'
import { openCluster } from './cluster/open-cluster.ts'
import { createConversations } from './conversations/create-conversations.ts'
import { EventBus } from './core/event-bus.ts'
import { createAgents } from './create-agents.ts'
import { EmbeddingService } from './embedding/service.ts'
import { createEvaluations } from './evaluations/create-evaluations.ts'
import { createHttp } from './http/create-http.ts'
import { getModelsDirectory } from './inference/paths.ts'
import { createKnowledge } from './knowledge/create-knowledge.ts'
import { sealLogins } from './knowledge/source-auth.ts'
import { createMcp } from './mcp-endpoint/create-mcp.ts'
import { bindMemoryRoutes } from './memories/routes.ts'
import { MemoriesService } from './memories/service.ts'
import { createModels } from './models/create-models.ts'
import { createOpenai } from './openai/create-openai.ts'
import { createOutbound } from './outbound/client.ts'
import { openStores } from './store/open-stores.ts'
import { createSystem } from './system/create-system.ts'
import { Telemetry } from './telemetry/telemetry.ts'
import { ensureAdminToken } from './tokens/ensure-admin-token.ts'
import { bindTokenRoutes } from './tokens/routes.ts'
import { TokensService } from './tokens/service.ts'
import { createUsage } from './usage/create-usage.ts'
import { createValidator } from './validation/validator.ts'
import { createWebhooks } from './webhooks/create-webhooks.ts'

export async function createApp(options: AppOptions): Promise<App> {
  const { paths, logger, vault, version, resolve, clock = systemClock, random = Math.random } = options
  const { database, originals, vectors, ownsDocuments, closeStores } = await openStores(options)
  const cluster = await openCluster(database, logger)
  await sealLogins(database, vault, logger)
  const now = () => new Date()
  const events = new EventBus()
  const telemetry = new Telemetry({ tracer: options.tracer, version })
  const outbound = createOutbound({ resolve, getTraceHeaders: telemetry.getTraceHeaders })
  const shared = { database, cluster, vault, validator: createValidator(), outbound, events, clock, logger, telemetry }

  const usage = createUsage({
    ...shared,
    now,
    getEntityFamilies: () => ({
      agent: agents,
      model: models,
      rag_tool: ragTools,
      prompt_template: templates,
      evaluation: evaluationFamily.service,
    }),
  })
  const { meter } = usage
  const modelFamily = createModels({
    ...shared,
    meter,
    discovery: options.modelDiscovery,
    resolve,
    timeouts: options.providerTimeouts,
    invalidateEmbeddings: (transaction, id) => knowledge.rebuildIndexes(transaction, id),
    embedded: {
      read: (...call) => embedding.models.read(...call),
      embed: (...call) => embedding.models.embed(...call),
    },
  })
  const { service: models } = modelFamily
  const resolveRemoteModel = (id: string) => models.resolveCredentials(database, id)
  const embedding = new EmbeddingService({ modelsDirectory: getModelsDirectory(), resolveRemoteModel, logger, telemetry })
  const { recognizer } = options
  const knowledgeFamily = createKnowledge({
    ...shared,
    originals,
    vectors,
    models,
    embedding,
    meter,
    recognizer,
    workDirectory: paths.work,
    languageFolder: paths.languages,
  })
  const { service: knowledge } = knowledgeFamily
  const agentFamily = createAgents({ ...shared, models, knowledge })
  const { agents, templates, ragTools, mcpServers } = agentFamily.services
  const memories = new MemoriesService({ ...shared, agents, embedding })
  const conversations = createConversations({
    ...shared,
    agents,
    models,
    memories,
    quoteVerifier: knowledge,
    meter,
    getIdleMinutes: async () => (await system.getSettings()).conversation_idle_minutes,
  })
  const { askOnce, completions, countReplies } = conversations
  const { embeddingLedger: ledger } = knowledgeFamily
  const openai = createOpenai({ ...shared, agents, models, conversations: conversations.service, completions, embedding, ledger })
  const evaluationFamily = createEvaluations({ ...shared, ...agentFamily.services, models, knowledge, embedding, meter, askOnce })
  const { executor: runs } = evaluationFamily
  const { documentLookup } = knowledgeFamily
  const mcp = createMcp({ ...shared, ...agentFamily.services, knowledge, documentLookup, models, meter, askOnce, version })
  const webhooks = createWebhooks({ ...shared, random })
  const tokens = new TokensService(shared)
  const getAddress = () => http.getAddress()
  const systemFamily = createSystem({
    ...shared,
    secret: options.secret,
    paths,
    version,
    originals,
    vectors,
    models,
    embedding,
    countReplies,
    getAddress,
  })
  const { service: system, getOpenapi } = systemFamily
  const asCode = new AsCodeService({
    ...shared,
    resources: [models, templates, knowledge, ...agentFamily.tools, agents, evaluationFamily.service, usage.thresholds, webhooks.service],
    settings: system,
  })

  await ensureAdminToken(tokens, cluster.leases, { token: options.adminToken, saveToken: options.keepToken, recover: options.recoverToken })
  const ownerId = await tokens.authenticator.findId(await options.readToken())
  await knowledgeFamily.sweep()
  await conversations.recover()
  await usage.recover()
  // Before requests are served, so that nobody sees a job that does not continue as running.
  await Promise.all([ownsDocuments && knowledgeFamily.takeOver(), runs.parkRuns()])

  const authenticate = (secret: string) => tokens.authenticator.authenticate(secret)
  const getRateLimit = (tokenId: string) => (tokenId === ownerId ? options.ownerRateLimit : undefined)
  const guards = { rateLimit: options.rateLimit, authenticate, getRateLimit }
  const http = await createHttp({ ...shared, ...guards, getOpenapi, handleMcp: mcp.handle }, [
    ...systemFamily.bindings,
    ...bindTokenRoutes(tokens),
    ...modelFamily.bindings,
    ...knowledgeFamily.bindings,
    ...agentFamily.bindings,
    ...conversations.bindings,
    ...bindMemoryRoutes(memories),
    ...openai.bindings,
    ...evaluationFamily.bindings,
    ...bindAnalyticsRoutes(createAnalyticsService(database, now)),
    ...usage.bindings,
    ...webhooks.bindings,
    ...bindAsCodeRoutes(asCode),
  ])

  // In the background: requests are served meanwhile.
  const resumed = Promise.all([ownsDocuments && knowledgeFamily.resume(), runs.resume()]).catch((error: unknown) =>
    logger.error({ err: error }, 'interrupted syncs and evaluation runs could not be resumed'),
  )
  cluster.leases.onTakeover(
    conversations.recover,
    usage.recover,
    () => runs.followOthers(),
    ...(ownsDocuments ? [knowledgeFamily.resume] : []),
  )
  webhooks.start()
  conversations.start()
  systemFamily.start()
  return {
    server: http.server,
    drain: http.drain,
    listening(url) {
      http.setAddress(url)
      models.preload().catch(() => undefined) // only speeds up the first call
    },
    async close() {
      http.drain()
      const webhooksClosed = webhooks.close()
      await Promise.all([conversations.close(), mcp.close(), systemFamily.close()])
      await resumed
      await Promise.all([knowledgeFamily.stop(), evaluationFamily.close()])
      await http.close()
      await Promise.all([webhooksClosed, telemetry.close()])
      await Promise.all([knowledgeFamily.close(), embedding.close(), mcpServers.close(), outbound.close(), modelFamily.close()])
      await cluster.close()
      await closeStores()
    },
  }
}
