/** A route is a value: who may call it, what goes in and what comes out. Daemon, client and OpenAPI all read it. */
import type { Static, TSchema } from 'typebox'

export const ROLES = ['admin', 'editor', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** Who may do what. Finer rules (own conversations, keys, paths) live with the family they belong to. */
export const ACCESS = {
  open: [],
  administer: ['admin'],
  change: ['admin', 'editor'],
  read: ['admin', 'editor', 'viewer'],
  meet: ['admin', 'editor', 'member', 'viewer'],
  talk: ['admin', 'editor', 'member'],
} as const satisfies Record<string, readonly Role[]>
export type Access = keyof typeof ACCESS

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** How a reply is wrapped: one resource, a page of them, a confirmation, the bare value, or an event stream. */
export type Shape = 'data' | 'page' | 'message' | 'bare' | 'events'

type OptionalSchema = TSchema | undefined

export interface Route<
  P extends OptionalSchema = OptionalSchema,
  Q extends OptionalSchema = OptionalSchema,
  B extends OptionalSchema = OptionalSchema,
  R extends TSchema = TSchema,
  S extends Shape = Shape,
> {
  readonly id: string
  readonly family: string
  readonly method: Method
  readonly path: string
  readonly summary: string
  readonly description?: string
  readonly access: Access
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly response: R
  readonly shape: S
  readonly status: 200 | 201 | 202
  readonly bodyLimit?: number
  /** The reply shows a secret that is never shown again, so it is kept sealed. */
  readonly revealsSecret?: boolean
  /** It goes on to a model or to another server, which can fail, keep it waiting, or cost more than is allowed. */
  readonly callsExternalService?: boolean
  /** The reply comes as events instead where the body says `stream: true`. */
  readonly canStream?: boolean
  /** A status under which the reply itself comes as well, when it is bad news. */
  readonly unhealthyStatus?: 503
}

type RouteDefinition<
  P extends OptionalSchema,
  Q extends OptionalSchema,
  B extends OptionalSchema,
  R extends TSchema,
  S extends Shape,
> = Omit<Route<P, Q, B, R, S>, 'params' | 'query' | 'body' | 'shape' | 'status'> & {
  params?: P
  query?: Q
  body?: B
  shape?: S
  status?: 200 | 201 | 202
}

export function route<
  R extends TSchema,
  P extends OptionalSchema = undefined,
  Q extends OptionalSchema = undefined,
  B extends OptionalSchema = undefined,
  S extends Shape = 'data',
>(declared: RouteDefinition<P, Q, B, R, S>): Route<P, Q, B, R, S> {
  const { params, query, body, shape, status, ...rest } = declared
  return { ...rest, params: params as P, query: query as Q, body: body as B, shape: (shape ?? 'data') as S, status: status ?? 200 }
}

type StaticOf<S> = S extends TSchema ? Static<S> : undefined
type InputPart<Name extends string, S> = S extends TSchema
  ? Record<string, never> extends Static<S>
    ? { [K in Name]?: Static<S> }
    : { [K in Name]: Static<S> }
  : { [K in Name]?: undefined }

/** What a caller gives for a route. */
export type RouteInput<R extends Route> = InputPart<'params', R['params']> & InputPart<'query', R['query']> & InputPart<'body', R['body']>

/** What a handler gets of a route, after validation. */
export interface ValidatedInput<R extends Route> {
  params: StaticOf<R['params']>
  query: StaticOf<R['query']>
  body: StaticOf<R['body']>
}

/** One event of a stream; ids grow. */
export interface StreamEvent {
  event: string
  data: unknown
  id?: string
}

/** What a route's handler returns, before the envelope. */
export type HandlerData<R extends Route> = R['shape'] extends 'page'
  ? { items: Static<R['response']>[]; total: number }
  : R['shape'] extends 'events'
    ? AsyncIterable<StreamEvent>
    : R['shape'] extends 'message'
      ? string
      : Static<R['response']>

export interface Pagination {
  page: number
  limit: number
  total: number
  pages: number
}

/** What a caller receives. */
export type ResponseBody<R extends Route> = R['shape'] extends 'bare'
  ? Static<R['response']>
  : R['shape'] extends 'page'
    ? { success: true; data: Static<R['response']>[]; pagination: Pagination }
    : R['shape'] extends 'message'
      ? { success: true; message: string }
      : { success: true; data: Static<R['response']>; message?: string }
