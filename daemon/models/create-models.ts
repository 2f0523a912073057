/** Builds the models family: providers, discovery, recordings, services and routes. */
import { createDiscoveredModels } from './discovered-models.ts'
import { type DiscoveryOptions, ModelDiscovery } from './model-discovery.ts'
import { ProviderRegistry, type ProviderRegistryOptions } from './providers/provider-registry.ts'
import { createRecordingsService } from './replay/recordings-service.ts'
import { bindModelRoutes } from './routes.ts'
import { type ModelsDependencies, ModelsService } from './service.ts'

interface ModelsFamilyDependencies extends Omit<ModelsDependencies, 'providers'>, ProviderRegistryOptions {
  discovery: DiscoveryOptions
}

export function createModels(dependencies: ModelsFamilyDependencies) {
  const { database } = dependencies
  const providers = new ProviderRegistry(dependencies)
  const discovery = new ModelDiscovery(dependencies.discovery, () => providers.getLocalDispatcher())
  const service = new ModelsService({ ...dependencies, providers })
  return {
    service,
    bindings: bindModelRoutes(service, createDiscoveredModels(database, discovery, service), createRecordingsService(database, service)),
    /** Aborts running requests to providers. */
    close: () => providers.close(),
  }
}
