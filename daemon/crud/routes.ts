/** Binds the CRUD routes of a family to its resource. */
import type { CrudRoutes } from '../../src/contract/crud.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { StoredRecord } from '../store/records.ts'
import type { Resource } from './resource.ts'

export function bindCrud<Stored extends StoredRecord, Input extends object, View>(
  routes: CrudRoutes,
  resource: Resource<Stored, Input, View>,
): Binding[] {
  const current = {
    read: resource.get.bind(resource),
    serverFields: ['updated_at', ...(resource.family.serverFields ?? [])],
  }
  return [
    bind(routes.list, ({ query, change }) => resource.list(change.caller, query as ListQuery)),
    bind(routes.get, ({ params, change }) => resource.get(change.caller, params.id)),
    bind(routes.create, ({ body, change }) => resource.create(change, body as Input)),
    bind(routes.update, ({ params, body, change }) => resource.update(change, params.id, body as Input), { current }),
    bind(routes.patch, ({ params, body, change }) => resource.update(change, params.id, body as Input), { current }),
    bind(routes.remove, ({ params, query, change }) => resource.remove(change, params.id, query.force)),
  ]
}
