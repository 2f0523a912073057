/** A span that ended, with its attributes. */
import type { SpanContext } from './traceparent.ts'

export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>
export type SpanKind = 'internal' | 'server' | 'client'

export interface FinishedSpan extends SpanContext {
  parentSpanId: string | undefined
  name: string
  kind: SpanKind
  /** Milliseconds since 1970, with fractions. */
  startedAt: number
  endedAt: number
  attributes: Attributes
  /** The type of the error, if the operation failed. */
  error: string | undefined
}
