import { tokenRoutes } from '../../src/contract/families/tokens.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { TokensService } from './service.ts'

export const bindTokenRoutes = (tokens: TokensService): Binding[] => [
  ...bindCrud(tokenRoutes, tokens),
  bind(tokenRoutes.create, ({ body, change }) => tokens.createWithSecret(change, body)),
]
