/** Binds the CRUD routes of a family to its resource. */
import type { CrudRoutes } from '../../src/contract/crud.ts'
import type { ListQuery } from '../../src/contract/schemas/list-query.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { StoredRecord } from '../store/records.ts'
import { readUpdate } from './read-update.ts'
import type { Resource } from './resource.ts'

export function bindCrud<Stored extends StoredRecord, Input extends object, View>(
  routes: CrudRoutes,
  resource: Resource<Stored, Input, View>,
): Binding[] {
  const { family } = resource
  const bindUpdate = (route: CrudRoutes['update'] | CrudRoutes['patch']) =>
    bind(
      route,
      (request) => {
        const { params, body, change } = request
        const update = { id: params.id, body, check: request.checkBody.bind(request), isPatch: route.method === 'PATCH' }
        return resource.update(change, params.id, (_, readView) => readUpdate(family, update, readView) as Promise<Input>)
      },
      { checkedSchema: family.update },
    )
  return [
    bind(routes.list, ({ query, change }) => resource.list(change.caller, query as ListQuery)),
    bind(routes.get, ({ params, change }) => resource.get(change.caller, params.id)),
    bind(routes.create, ({ body, change }) => resource.create(change, body as Input)),
    bindUpdate(routes.update),
    bindUpdate(routes.patch),
    bind(routes.remove, ({ params, query, change }) => resource.remove(change, params.id, query.force)),
  ]
}
