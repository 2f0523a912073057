/** A contract route bound to the code that answers it. */
import type { HandlerData, Route, StreamEvent, ValidatedInput } from '../../src/contract/route.ts'
import type { Caller, ChangeContext } from '../core/caller.ts'
import type { DeferredResponse } from '../core/deferred-response.ts'

export interface HandlerRequest<R extends Route> extends ValidatedInput<R> {
  change: ChangeContext
  /** Aborts when the caller goes away before the answer is finished. */
  readonly signal: AbortSignal
  /** The last event the caller got of a stream that it follows again. */
  lastEventId: string | undefined
}

/** What a handler gives: the data, or where the route streams its events; at once or later. */
type HandlerValue<R extends Route> = HandlerData<R> | AsyncIterable<StreamEvent>
export type HandlerResult<R extends Route> = HandlerValue<R> | DeferredResponse<HandlerValue<R>>

/** What is there now: a field that says the same is no change. */
export interface CurrentResource {
  read(caller: Caller, id: string): Promise<unknown>
  /** Fields that the service writes by itself: in what was read before, they say what was so then. */
  serverFields: readonly string[]
}

export interface Binding {
  route: Route
  handle(incoming: HandlerRequest<Route>): Promise<unknown>
  /** The status of a reply that is bad news without being an error. */
  getStatus?(reply: unknown): number
  /** Answers a repeated request from what the first one had remembered; without it, that is the answer. */
  replay?(incoming: HandlerRequest<Route>, remembered: unknown): Promise<unknown>
  /** Of a route that changes something. */
  current?: CurrentResource
}

interface BindingOptions<R extends Route> {
  getStatus?(reply: HandlerData<R>): number
  replay?(incoming: HandlerRequest<R>, remembered: unknown): Promise<HandlerResult<R>>
  current?: CurrentResource
}

export function bind<R extends Route>(
  route: R,
  handle: (incoming: HandlerRequest<R>) => Promise<HandlerResult<R>>,
  particulars: BindingOptions<R> = {},
): Binding {
  return { route, handle, ...particulars } as unknown as Binding
}
