/** Binds the routes for exporting and applying configuration. */
import { asCodeRoutes } from '../../src/contract/families/as-code.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { AsCodeService } from './service.ts'

export const bindAsCodeRoutes = (asCode: AsCodeService): Binding[] => [
  bind(asCodeRoutes.export, ({ change }) => asCode.export(change.caller)),
  bind(asCodeRoutes.apply, ({ body, change }) => asCode.apply(change, body)),
]
