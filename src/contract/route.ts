/** The description of a route, which the daemon, the client and the OpenAPI document share. */
import type { Static, TSchema } from 'typebox'
import type { Pagination } from './schemas/list-query.ts'

export const ROLES = ['admin', 'editor', 'member', 'viewer'] as const
export type Role = (typeof ROLES)[number]

/** The roles of each access level. Families check further rules, such as own conversations, keys and paths. */
export const ACCESS = {
  /** No token required. */
  public: [],
  admin: ['admin'],
  write: ['admin', 'editor'],
  read: ['admin', 'editor', 'viewer'],
  any: ['admin', 'editor', 'member', 'viewer'],
  chat: ['admin', 'editor', 'member'],
} as const satisfies Record<string, readonly Role[]>
export type Access = keyof typeof ACCESS

export const hasAccess = (role: Role, access: Access): boolean => (ACCESS[access] as readonly Role[]).includes(role)

/** Whether a role may call models that cost money. A viewer may call free ones. */
export const maySpend = (role: Role): boolean => role !== 'viewer'

export const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const
export type Method = (typeof METHODS)[number]

/** The content type of routes that return text: the format of Prometheus. */
export const TEXT_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** The content type of PATCH requests, in addition to application/json. */
export const MERGE_PATCH_TYPE = 'application/merge-patch+json'

/** The envelope of a response: one resource, a page of resources, a message, no envelope, plain text, or an event stream. */
export type Shape = 'data' | 'page' | 'message' | 'bare' | 'text' | 'events'

type OptionalSchema = TSchema | undefined

/** The schemas of the data of events, by the name of the event. */
export type EventSchemas = Readonly<Record<string, TSchema>>

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
  /** openai: below /v1 instead of /api, with errors and events in OpenAI's format. */
  readonly protocol?: 'openai'
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly response: R
  readonly shape: S
  readonly status: 200 | 201 | 202
  /** The events of a route that streams. */
  readonly events?: EventSchemas
  /** Whether the stream resumes after the event in Last-Event-ID. */
  readonly isResumable?: boolean
  /** All fields of the body are optional, but some are required together. */
  readonly isBodyRequired?: boolean
  /** Whether the header Cadre-Conversation names the conversation in which the call is stored. */
  readonly storesConversation?: boolean
  /** Of a route that creates a resource elsewhere: the path of the collection. */
  readonly createdPath?: string
  readonly bodyLimit?: number
  /** The field with a secret that is not returned again. The response is stored encrypted for idempotent requests. */
  readonly revealsSecret?: string
  /** The response is stored encrypted for idempotent requests, so that nobody finds there what was deleted. */
  readonly isConfidential?: boolean
  /** The handler calls a model or another server, which can fail, time out or exceed a budget. */
  readonly callsExternalService?: boolean
  /** The handler calls a model or starts work that does, which may cost money. */
  readonly callsModel?: boolean
  /** A POST that changes the resource of its path. */
  readonly changesResource?: boolean
  /** Status of a regular response that reports an unhealthy daemon. */
  readonly unhealthyStatus?: 503
  /** Other requests are refused while the daemon stops. */
  readonly isAnsweredWhileStopping?: boolean
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
>(definition: RouteDefinition<P, Q, B, R, S>): Route<P, Q, B, R, S> {
  const { params, query, body, shape, status, ...rest } = definition
  return { ...rest, params: params as P, query: query as Q, body: body as B, shape: (shape ?? 'data') as S, status: status ?? 200 }
}

/** The full path of a route. */
export const getRoutePath = ({ protocol, path }: Pick<Route, 'protocol' | 'path'>): string => (protocol === 'openai' ? path : `/api${path}`)

/** Whether the handler compares If-Match with the version of the resource. */
export const checksVersion = ({ method, changesResource }: Route): boolean =>
  ['PUT', 'PATCH', 'DELETE'].includes(method) || changesResource === true

/** Whether the body of a request can be missing: it has no required fields, and the request is not an update. */
export function isBodyOptional({ method, body }: Route): boolean {
  const { required } = body as { required?: string[] }
  return method === 'POST' && !required?.length
}

type StaticOf<S> = S extends TSchema ? Static<S> : undefined
type InputPart<Name extends string, S> = S extends TSchema
  ? Record<string, never> extends Static<S>
    ? { [K in Name]?: Static<S> }
    : { [K in Name]: Static<S> }
  : { [K in Name]?: undefined }

/** The arguments of a client call. */
export type RouteInput<R extends Route> = InputPart<'params', R['params']> & InputPart<'query', R['query']> & InputPart<'body', R['body']>

/** The validated parts of a request. */
export interface ValidatedInput<R extends Route> {
  params: StaticOf<R['params']>
  query: StaticOf<R['query']>
  body: StaticOf<R['body']>
}

/** An event of a stream. Ids are increasing numbers. */
export interface StreamEvent {
  event: string
  data: unknown
  id?: string
}

/** The result of a handler, before the envelope is added. */
export type HandlerData<R extends Route> = R['shape'] extends 'page'
  ? { items: Static<R['response']>[]; total: number }
  : R['shape'] extends 'events'
    ? AsyncIterable<StreamEvent>
    : R['shape'] extends 'message'
      ? string
      : Static<R['response']>

/** The body of a successful response. */
export type ResponseBody<R extends Route> = R['shape'] extends 'bare'
  ? Static<R['response']>
  : R['shape'] extends 'page'
    ? { success: true; data: Static<R['response']>[]; pagination: Pagination }
    : R['shape'] extends 'message'
      ? { success: true; message: string }
      : { success: true; data: Static<R['response']>; message?: string }
