/** Prompt templates: text with {{variables}}. */
import { Type } from 'typebox'
import { createCrudRoutes, type Family, idParams } from '../crud.ts'
import { route } from '../route.ts'
import { createExample, jsonObject, object, optional, resource, resourceName, stringEnum, text } from '../schemas/fields.ts'

const VARIABLE_PATTERN = '^[A-Za-z_][A-Za-z0-9_.-]{0,99}$'

const settings = {
  description: text('Description of the template.', 10_000),
  variables: Type.Array(Type.String({ pattern: VARIABLE_PATTERN, description: 'Name of a variable.' }), {
    maxItems: 200,
    uniqueItems: true,
    description: 'Names of the variables. Default: the variables in the text.',
  }),
  type: stringEnum(['system', 'user'], { default: 'system', description: 'Role of the rendered text.' }),
}
const template = Type.String({ minLength: 1, maxLength: 100_000, description: 'Text with {{variables}}.' })
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
    name: resourceName('prompt template'),
    template,
    ...settings,
    version: Type.Integer({ minimum: 1, description: 'Version, which increases with every change.' }),
  },
  {
    description: 'A text with {{variables}}.',
    examples: [createExample('tmpl', { ...example, version: 1 })],
  },
)
export const PromptTemplateCreate = object(
  { name: resourceName('prompt template'), template, ...optional(settings) },
  { description: 'A new prompt template.', examples: [example] },
)
export const PromptTemplateUpdate = object(optional({ name: resourceName('prompt template'), template, ...settings }), {
  description: 'Fields of a prompt template to change.',
  minProperties: 1,
  examples: [{ description: 'Tone of the night shift' }],
})

export const promptTemplates = {
  name: 'prompt-templates',
  noun: 'prompt template',
  path: '/prompt-templates',
  prefix: 'tmpl',
  item: PromptTemplate,
  resource: PromptTemplate,
  create: PromptTemplateCreate,
  update: PromptTemplateUpdate,
  serverFields: ['version'],
} satisfies Family

export const promptTemplateRoutes = {
  ...createCrudRoutes(promptTemplates, { read: 'read', change: 'write' }),
  render: route({
    id: 'prompt-templates.render',
    family: 'prompt-templates',
    method: 'POST',
    path: '/prompt-templates/{id}/render',
    summary: 'Render a prompt template',
    description: 'Every variable needs a value. Variables inside values are not replaced.',
    access: 'read',
    params: idParams('prompt template'),
    body: object(
      { variables: Type.Optional(jsonObject('Value of each variable.')) },
      { examples: [{ variables: { company: 'Acme', topic: 'invoices' } }] },
    ),
    response: object(
      { text: Type.String({ description: 'Rendered text.' }) },
      { examples: [{ text: 'You help Acme users about invoices.' }] },
    ),
  }),
}
