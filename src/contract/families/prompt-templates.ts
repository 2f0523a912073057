/** Prompt templates: text with {{variables}}. */
import { Type } from 'typebox'
import { createAction, createBody, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { route } from '../route.ts'
import {
  createExample,
  integer,
  jsonObject,
  namedObject,
  nonEmptyText,
  resource,
  resourceName,
  stringEnum,
  text,
} from '../schemas/fields.ts'

/** Letters of every script, so that {{größe}} is a variable and not text. */
const VARIABLE_PATTERN = '^[\\p{L}_][\\p{L}\\p{M}\\p{N}_.-]{0,99}$'

const name = resourceName('prompt template')
const settings = {
  description: text('Description of the template.', 10_000),
  variables: Type.Array(Type.String({ pattern: VARIABLE_PATTERN, description: 'Name of a variable.' }), {
    maxItems: 200,
    uniqueItems: true,
    description: 'Names of the variables. Default: the variables in the text.',
  }),
  type: stringEnum(['system', 'user'], { default: 'system', description: 'Role of the rendered text.' }),
}
const template = nonEmptyText('Text with {{variables}}.', 100_000)
const example = {
  name: 'Support',
  description: 'Tone of the support team',
  template: 'You help {{company}} users about {{topic}}.',
  variables: ['company', 'topic'],
  type: 'system',
}

export const PromptTemplate = resource(
  'prompt template',
  {
    name,
    template,
    ...settings,
    version: integer('Version, which increases with every change.', { minimum: 1 }),
  },
  {
    description: 'A text with {{variables}}.',
    examples: [createExample('tmpl', { ...example, version: 1 })],
  },
)
const PromptTemplateCreate = createBody('prompt template', { name, template }, settings, example)
const PromptTemplateUpdate = updateBody('prompt template', { name, template, ...settings }, { description: 'Tone of the night shift' })

export const promptTemplates = createFamily({
  name: 'prompt-templates',
  noun: 'prompt template',
  prefix: 'tmpl',
  resource: PromptTemplate,
  create: PromptTemplateCreate,
  update: PromptTemplateUpdate,
  serverFields: ['version'],
})

export const promptTemplateRoutes = {
  ...createCrudRoutes(promptTemplates, { read: 'read', change: 'write' }),
  render: route({
    ...createAction(promptTemplates, 'render'),
    summary: 'Render a prompt template',
    description: 'Every variable needs a value. Variables inside values are not replaced.',
    access: 'read',
    body: namedObject('PromptTemplateRender', 'Values to render.', { variables: Type.Optional(jsonObject('Value of each variable.')) }, [
      { variables: { company: 'Acme', topic: 'invoices' } },
    ]),
    response: namedObject('RenderedPrompt', 'A rendered prompt template.', { text: Type.String({ description: 'Rendered text.' }) }, [
      { text: 'You help Acme users about invoices.' },
    ]),
  }),
}
