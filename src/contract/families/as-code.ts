/** Configuration as code: export all resources, and apply a set of resources. */
import { Type } from 'typebox'
import { route } from '../route.ts'
import { flag, jsonObject, namedObject, nonEmptyText, nullable, optional, stringEnum } from '../schemas/fields.ts'

/** Families that files can contain, each after the families it refers to. */
export const MANAGED_FAMILIES = [
  'models',
  'prompt-templates',
  'knowledge-sources',
  'rag-tools',
  'retrieval-tools',
  'api-tools',
  'mcp-servers',
  'mcp-tools',
  'agents',
  'evaluations',
  'usage-thresholds',
  'webhooks',
  'settings',
] as const
export type ManagedFamily = (typeof MANAGED_FAMILIES)[number]

/** Secret fields. Files refer to environment variables, as ${env:NAME}; an omitted secret keeps its value. */
export const SECRET_FIELDS: Partial<Record<ManagedFamily, readonly string[]>> = {
  models: ['api_key'],
  'knowledge-sources': ['auth'],
  'api-tools': ['headers', 'auth'],
  'mcp-servers': ['env', 'headers', 'auth'],
  webhooks: ['secret'],
}

const MAX_APPLY_BYTES = 64 * 1024 * 1024
export const MAX_RESOURCES = 10_000

const family = stringEnum(MANAGED_FAMILIES, { description: 'Family of the resource, which is also the name of its folder.' })
const name = Type.String({ description: 'Name of the resource, followed by #key if the name is not unique.' })
const file = nonEmptyText('Path of the file, for messages.', 1_000)
const fields = jsonObject(
  'Fields as in a create request, with names instead of identifiers, and a key if the name is not unique (referenced as name#key). ' +
    'A secret is its value, or {env: NAME} if that variable is not set; the stored secret is then kept.',
)
const families = Type.Array(family, { minItems: 1, uniqueItems: true, description: 'Families to apply. Default: all.' })

const ExportedResource = namedObject('ExportedResource', 'A resource and its file.', { family, name, file, fields })
const Export = namedObject('Export', 'All resources, without identifiers, timestamps and secrets.', {
  resources: Type.Array(ExportedResource, { description: 'Resources, one per file, in the order in which they can be created.' }),
  notes: Type.Array(Type.String(), { description: 'What the export does not contain, and why.' }),
})

const value = (description: string) => Type.Optional(Type.Unknown({ description }))
const FieldChange = namedObject('FieldChange', 'A changed field.', {
  field: Type.String({ description: 'Name of the field.' }),
  from: value('Old value.'),
  to: value('New value.'),
})
const Change = namedObject('ResourceChange', 'What happens to a resource.', {
  family,
  name,
  id: nullable(Type.String({ description: 'Identifier of the resource; null if it would be created.' })),
  action: stringEnum(['create', 'update', 'unchanged', 'delete'], { description: 'Action for the resource.' }),
  fields: Type.Array(FieldChange, { description: 'Changed fields. The values of secrets are not included.' }),
})
const GeneratedSecret = namedObject('GeneratedSecret', 'A secret of a new resource.', {
  family,
  name,
  secret: Type.String({ description: 'Generated signing secret. It is returned only once.' }),
})
const MissingSecret = namedObject('MissingSecret', 'A required secret whose environment variable is not set.', {
  variable: Type.String({ description: 'Name of the environment variable.' }),
  file,
  field: Type.String({ description: 'Field that uses the variable.' }),
})
const plan = nonEmptyText('Identifier of exactly these changes to the current state.', 100)
export const ApplyResult = namedObject('ApplyResult', 'Changes of an apply request.', {
  plan,
  changes: Type.Array(Change, { description: 'Changes, one per resource, in the order in which they are made.' }),
  secrets: Type.Array(GeneratedSecret, { description: 'Generated secrets.' }),
  missing: Type.Array(MissingSecret, { description: 'Required secrets that are missing.' }),
  notes: Type.Array(Type.String(), { description: 'Notes about the changes.' }),
})
const DeclaredResource = namedObject('DeclaredResource', 'A desired resource.', { family, ...optional({ file }), fields })

export const asCodeRoutes = {
  export: route({
    id: 'as-code.export',
    family: 'as-code',
    method: 'GET',
    path: '/export',
    summary: 'Export every resource',
    description:
      'Returns the resources in the format of apply, without documents, conversations, tokens and ' +
      'resources that the caller may not read. If several resources have the same name, all except the oldest have a key.',
    access: 'read',
    response: Export,
  }),
  apply: route({
    id: 'as-code.apply',
    family: 'as-code',
    method: 'POST',
    path: '/apply',
    summary: 'Apply a set of resources',
    description:
      'Creates and updates resources in one transaction. Resources are identified by name, and by key if the name is not unique; ' +
      'omitted fields get their defaults. With prune, resources that are not in the set are deleted. ' +
      'The caller needs the same permissions as for individual changes.',
    access: 'write',
    body: namedObject(
      'ApplyRequest',
      'A set of resources.',
      {
        resources: Type.Array(DeclaredResource, {
          minItems: 1,
          maxItems: MAX_RESOURCES,
          description: 'Desired resources, in any order.',
        }),
        ...optional({
          prune: flag('Whether to delete resources that are not in the set.', false),
          families,
          dry_run: flag('Whether to return the result without making changes.', false),
          plan: { ...plan, description: 'Plan returned by a dry run. The request fails with 409 if the changes would differ.' },
        }),
      },
      [
        {
          resources: [{ family: 'agents', file: 'agents/helper.yaml', fields: { name: 'Helper', model_id: 'embedded' } }],
          dry_run: true,
        },
      ],
    ),
    bodyLimit: MAX_APPLY_BYTES,
    response: ApplyResult,
    revealsSecret: 'secrets',
  }),
}
