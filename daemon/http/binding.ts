/** Binds a route of the contract to its handler. */
import type { TSchema } from 'typebox'
import type { CadreError } from '../../src/contract/errors.ts'
import type { HandlerData, Route, StreamEvent, ValidatedInput } from '../../src/contract/route.ts'
import type { ChangeContext } from '../core/caller.ts'
import type { DeferredResponse } from '../core/deferred-response.ts'

export interface HandlerRequest<R extends Route> extends ValidatedInput<R> {
  change: ChangeContext
  /** Aborts if the client disconnects before the response is complete. */
  readonly signal: AbortSignal
  /** The Last-Event-ID header. */
  lastEventId: string | undefined
  /** The Cadre-Conversation header. */
  conversationId: string | undefined
  /** Checks a value against `checkedSchema`. */
  checkBody(value: unknown): CadreError | undefined
}

/** A handler returns data or, if the route can stream, events; either immediately or deferred. */
type HandlerValue<R extends Route> = HandlerData<R> | AsyncIterable<StreamEvent>
type HandlerResult<R extends Route> = HandlerValue<R> | DeferredResponse<HandlerValue<R>>

interface BindingOptions<R extends Route> {
  /** The status of the response, if it depends on the data. */
  getStatus?(data: HandlerData<R>): number
  /** Creates the response to a repeated request from the stored response, or executes it again. Default: the stored response. */
  replay?(request: HandlerRequest<R>, stored: unknown): Promise<{ response: HandlerResult<R>; isReplayed: boolean }>
  /** The handler checks the body itself, with `checkBody` and this schema. */
  checkedSchema?: TSchema
}

export interface Binding extends Pick<BindingOptions<Route>, 'checkedSchema'> {
  route: Route
  handle(request: HandlerRequest<Route>): Promise<unknown>
  getStatus?(data: unknown): number
  replay?(request: HandlerRequest<Route>, stored: unknown): Promise<{ response: unknown; isReplayed: boolean }>
}

export function bind<R extends Route>(
  route: R,
  handle: (request: HandlerRequest<R>) => Promise<HandlerResult<R>>,
  options: BindingOptions<R> = {},
): Binding {
  return { route, handle, ...options } as unknown as Binding
}
