/** Builds the models family: providers, discovery, recordings, services and routes. */
import type { Binding } from '../http/binding.ts'
import type { Resolve } from '../outbound/guarded-connector.ts'
import { type DiscoveryOptions, ModelDiscovery } from './model-discovery.ts'
import type { ProviderTimeouts } from './providers/http-exchange.ts'
import { ProviderRegistry } from './providers/provider-registry.ts'
import { RecordingsService } from './replay/recordings-service.ts'
import { bindModelRoutes } from './routes.ts'
import { type ModelsDependencies, ModelsService } from './service.ts'

export interface CreateModelsDependencies extends Omit<ModelsDependencies, 'providers' | 'discovery'> {
  discovery: DiscoveryOptions
  /** Replaces the system's DNS resolver in tests. */
  resolve?: Resolve | undefined
  timeouts?: Partial<ProviderTimeouts> | undefined
}

export interface Models {
  service: ModelsService
  bindings: Binding[]
  /** Aborts running requests to providers. */
  close(): Promise<void>
}

export function createModels(dependencies: CreateModelsDependencies): Models {
  const { database, resolve, timeouts } = dependencies
  const providers = new ProviderRegistry({ resolve, timeouts })
  const discovery = new ModelDiscovery(dependencies.discovery, () => providers.getLocalDispatcher())
  const service = new ModelsService({ ...dependencies, providers, discovery })
  return {
    service,
    bindings: bindModelRoutes(service, new RecordingsService(database, service)),
    close: () => providers.close(),
  }
}
