/** Encodes spans as the JSON of OTLP. */
import type { Attributes, FinishedSpan } from './finished-span.ts'

const SPAN_KINDS = { internal: 1, server: 2, client: 3 } as const
const STATUS_ERROR = 2
/** Longer values, such as names of tools, are cut off. */
const MAX_VALUE_LENGTH = 256

export function encodeSpans(spans: readonly FinishedSpan[], resource: Attributes, version: string): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: encodeAttributes(resource) },
        scopeSpans: [{ scope: { name: 'cadre', version }, spans: spans.map(encodeSpan) }],
      },
    ],
  })
}

function encodeSpan({ traceId, spanId, parentSpanId, traceState, name, kind, startedAt, endedAt, attributes, error }: FinishedSpan) {
  return {
    traceId,
    spanId,
    parentSpanId,
    traceState,
    name: name.slice(0, MAX_VALUE_LENGTH),
    kind: SPAN_KINDS[kind],
    startTimeUnixNano: toNanoseconds(startedAt),
    endTimeUnixNano: toNanoseconds(endedAt),
    attributes: encodeAttributes(error === undefined ? attributes : { ...attributes, 'error.type': error }),
    status: error === undefined ? {} : { code: STATUS_ERROR },
  }
}

/** A string, because the number is larger than the exact numbers of JavaScript. */
const toNanoseconds = (milliseconds: number): string => (BigInt(Math.round(milliseconds * 1000)) * 1000n).toString()

const encodeAttributes = (attributes: Attributes) =>
  Object.entries(attributes).flatMap(([key, value]) => (value === undefined || value === null ? [] : [{ key, value: encodeValue(value) }]))

function encodeValue(value: string | number | boolean) {
  if (typeof value === 'string') return { stringValue: value.slice(0, MAX_VALUE_LENGTH) }
  if (typeof value === 'boolean') return { boolValue: value }
  return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}
