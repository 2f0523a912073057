/** Decides which traces are recorded, by the names of OTEL_TRACES_SAMPLER. */

/** @param isParentSampled the decision of the service that sent the request; undefined without one */
export type Sampler = (traceId: string, isParentSampled: boolean | undefined) => boolean

export const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const
export type SamplerName = (typeof SAMPLERS)[number]

export function createSampler(name: SamplerName, ratio: number): Sampler {
  const decide = (traceId: string) => {
    if (name.endsWith('always_on')) return true
    if (name.endsWith('always_off')) return false
    // All services decide alike, because the digits of an id are random.
    return Number.parseInt(traceId.slice(-8), 16) < ratio * 2 ** 32
  }
  return name.startsWith('parentbased') ? (traceId, isParentSampled) => isParentSampled ?? decide(traceId) : decide
}
