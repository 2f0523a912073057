/** A contract route bound to the code that answers it. */
import type { Data, Given, Route, StreamEvent } from '../../src/contract/route.ts'
import type { Caller, Change } from '../core/caller.ts'
import type { Later } from '../core/deferred-reply.ts'

export interface Incoming<R extends Route> extends Given<R> {
  change: Change
  /** Aborts when the caller goes away before the answer is finished. */
  readonly signal: AbortSignal
  /** The last event the caller got of a stream that it follows again. */
  lastEventId: string | undefined
}

/** What a handler gives: the data, or where the route streams its events; at once or later. */
type Made<R extends Route> = Data<R> | AsyncIterable<StreamEvent>
export type Reply<R extends Route> = Made<R> | Later<Made<R>>

/** What is there now: a field that says the same is no change. */
export interface Standing {
  read(caller: Caller, id: string): Promise<unknown>
  /** Fields that the service writes by itself: in what was read before, they say what was so then. */
  notes: readonly string[]
}

export interface Binding {
  route: Route
  handle(incoming: Incoming<Route>): Promise<unknown>
  /** The status of a reply that is bad news without being an error. */
  statusOf?(reply: unknown): number
  /** Answers a repeated request from what the first one had remembered; without it, that is the answer. */
  replay?(incoming: Incoming<Route>, remembered: unknown): Promise<unknown>
  /** Of a route that changes something. */
  standing?: Standing
}

interface Particulars<R extends Route> {
  statusOf?(reply: Data<R>): number
  replay?(incoming: Incoming<R>, remembered: unknown): Promise<Reply<R>>
  standing?: Standing
}

export function bind<R extends Route>(
  route: R,
  handle: (incoming: Incoming<R>) => Promise<Reply<R>>,
  particulars: Particulars<R> = {},
): Binding {
  return { route, handle, ...particulars } as unknown as Binding
}
