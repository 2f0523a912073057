/** The headers of W3C Trace Context, which continue a trace across services. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  traceId: string
  /** 16 hexadecimal digits. */
  spanId: string
  isSampled: boolean
  /** Data of tracing systems, passed on unchanged. */
  traceState: string | undefined
}

export interface TraceHeaders {
  traceparent: string | undefined
  tracestate?: string | undefined
}

/** Later versions may have more fields. */
const TRACEPARENT = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(-.*)?$/
const MAX_TRACESTATE_LENGTH = 512

/** Returns undefined if the header is missing or invalid: a new trace starts then. */
export function parseTraceparent({ traceparent = '', tracestate = '' }: TraceHeaders): SpanContext | undefined {
  const [, version = 'ff', traceId = '', spanId = '', flags = '', rest] = TRACEPARENT.exec(traceparent.trim()) ?? []
  if (version === 'ff' || /^0+$/.test(traceId) || /^0+$/.test(spanId) || (version === '00' && rest !== undefined)) return undefined
  const isStateValid = tracestate !== '' && tracestate.length <= MAX_TRACESTATE_LENGTH && /^[\x20-\x7e]+$/.test(tracestate)
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1, traceState: isStateValid ? tracestate : undefined }
}

export const formatTraceparent = ({ traceId, spanId, isSampled, traceState }: SpanContext): Record<string, string> => ({
  traceparent: `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`,
  ...(traceState === undefined ? {} : { tracestate: traceState }),
})
