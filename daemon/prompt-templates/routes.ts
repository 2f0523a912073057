import { promptTemplateRoutes } from '../../src/contract/families/prompt-templates.ts'
import { bindCrud } from '../crud/routes.ts'
import { type Binding, bind } from '../http/binding.ts'
import type { PromptTemplatesService } from './service.ts'

export const bindPromptTemplateRoutes = (templates: PromptTemplatesService): Binding[] => [
  ...bindCrud(promptTemplateRoutes, templates),
  bind(promptTemplateRoutes.render, ({ params, body, change }) => templates.render(change.caller, params.id, body.variables ?? {})),
]
