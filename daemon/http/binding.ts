/** A contract route bound to the code that answers it. */
import type { Data, Given, Route } from '../../src/contract/route.ts'
import type { Change } from '../caller.ts'

export interface Incoming<R extends Route> extends Given<R> {
  change: Change
}

export interface Binding {
  route: Route
  handle(incoming: Incoming<Route>): Promise<unknown>
  /** The status of a reply that is bad news without being an error. */
  statusOf?(reply: unknown): number
}

export function bind<R extends Route>(route: R, handle: (incoming: Incoming<R>) => Promise<Data<R>>, statusOf?: (reply: Data<R>) => number): Binding {
  return { route, handle: handle as unknown as Binding['handle'], ...(statusOf ? { statusOf: statusOf as NonNullable<Binding['statusOf']> } : {}) }
}
