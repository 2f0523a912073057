/** Reads the standard variables of OpenTelemetry for traces. */

import type { Attributes } from './finished-span.ts'
import { SAMPLERS, type SamplerName } from './sampler.ts'

export interface TraceSettings {
  /** URL of the collector, with the path of traces. */
  url: string
  headers: Record<string, string>
  isCompressed: boolean
  timeoutMs: number
  /** Longest delay until a span is sent. */
  delayMs: number
  batchSize: number
  maxQueueSize: number
  sampler: SamplerName
  /** Share of traces that a ratio sampler records. */
  ratio: number
  /** Whether the headers of W3C Trace Context are read and sent. */
  isPropagated: boolean
  resource: Attributes
}

type Environment = Readonly<Record<string, string | undefined>>

const DEFAULT_ENDPOINT = 'http://localhost:4318'

/**
 * Returns undefined unless traces are enabled: by an endpoint, or by OTEL_TRACES_EXPORTER=otlp. Throws an error that names the
 * variable with an invalid value.
 */
export function readTraceSettings(environment: Environment, version: string): TraceSettings | undefined {
  const read = (name: string) => environment[name]?.trim() || undefined
  /** The variable for traces takes precedence over the general one. */
  const readExporter = (name: string) => read(`OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? read(`OTEL_EXPORTER_OTLP_${name}`)
  const exporter = read('OTEL_TRACES_EXPORTER') ?? (readExporter('ENDPOINT') === undefined ? 'none' : 'otlp')
  if (read('OTEL_SDK_DISABLED')?.toLowerCase() === 'true' || exporter === 'none') return undefined
  requireWord('OTEL_TRACES_EXPORTER', exporter, ['otlp', 'none'])
  // Collectors accept JSON on the same port as binary messages.
  requireWord('OTEL_EXPORTER_OTLP_PROTOCOL', readExporter('PROTOCOL') ?? 'http/json', ['http/json', 'http/protobuf'])
  const sampler = requireWord('OTEL_TRACES_SAMPLER', read('OTEL_TRACES_SAMPLER') ?? 'parentbased_always_on', SAMPLERS)
  const maxQueueSize = readNumber('OTEL_BSP_MAX_QUEUE_SIZE', read, 2_048, 100_000)
  const propagators = (read('OTEL_PROPAGATORS') ?? 'tracecontext').split(',').map((name) => name.trim())
  return {
    url: readUrl(read),
    headers: parsePairs('OTEL_EXPORTER_OTLP_HEADERS', readExporter('HEADERS')),
    isCompressed: requireWord('OTEL_EXPORTER_OTLP_COMPRESSION', readExporter('COMPRESSION') ?? 'none', ['none', 'gzip']) === 'gzip',
    timeoutMs: readNumber('OTEL_EXPORTER_OTLP_TIMEOUT', (name) => readExporter('TIMEOUT') ?? read(name), 10_000, 60_000),
    delayMs: readNumber('OTEL_BSP_SCHEDULE_DELAY', read, 5_000, 60_000),
    batchSize: Math.max(1, Math.min(maxQueueSize, readNumber('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', read, 512, 10_000))),
    maxQueueSize,
    sampler,
    ratio: readNumber('OTEL_TRACES_SAMPLER_ARG', read, 1, 1),
    isPropagated: propagators.includes('tracecontext'),
    resource: {
      'service.version': version,
      ...parsePairs('OTEL_RESOURCE_ATTRIBUTES', read('OTEL_RESOURCE_ATTRIBUTES')),
      'service.name': read('OTEL_SERVICE_NAME') ?? parseServiceName(read('OTEL_RESOURCE_ATTRIBUTES')) ?? 'cadre',
    },
  }
}

function readUrl(read: (name: string) => string | undefined): string {
  const traces = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  const name = traces === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  // The general endpoint is that of all signals.
  const url = traces ?? `${(read(name) ?? DEFAULT_ENDPOINT).replace(/\/+$/, '')}/v1/traces`
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url))
    throw new Error(`${name} must be a URL such as ${DEFAULT_ENDPOINT}, not "${url}".`)
  return url
}

function readNumber(name: string, read: (name: string) => string | undefined, fallback: number, maximum: number): number {
  const text = read(name)
  const value = text === undefined ? fallback : Number(text)
  if (!(value >= 0 && value <= maximum)) throw new Error(`${name} must be a number from 0 to ${maximum}, not "${text}".`)
  return value
}

function requireWord<const Word extends string>(name: string, text: string, words: readonly Word[]): Word {
  const word = words.find((candidate) => candidate === text)
  if (word === undefined) throw new Error(`${name} must be one of ${words.join(', ')}, not "${text}".`)
  return word
}

/** Parses `key=value,key=value`, with values that are encoded as in URLs. Values are not named in errors: they can be secrets. */
function parsePairs(name: string, text = ''): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, key, value] = /^\s*([^=\s]+)\s*=\s*(.*?)\s*$/s.exec(pair) ?? []
      if (key === undefined || value === undefined) throw new Error(`${name} must be a list such as key=value,other=value.`)
      return [key, decode(value)]
    }),
  )
}

function decode(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value // a percent sign that encodes nothing
  }
}

const parseServiceName = (attributes: string | undefined) => parsePairs('OTEL_RESOURCE_ATTRIBUTES', attributes)['service.name']
