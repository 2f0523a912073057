/** The whole configuration at once: every resource as files hold it, and a set of files as what shall be. */
import { Type } from 'typebox'
import { route } from '../route.ts'
import { jsonObject, nullable, object, optional, stringEnum } from '../schemas/fields.ts'

/** What files can hold, each after all that it may refer to. */
export const MANAGED_FAMILIES = [
  'models',
  'prompt-templates',
  'knowledge-sources',
  'rag-tools',
  'retrieval-tools',
  'api-tools',
  'agents',
  'evaluations',
  'usage-thresholds',
  'webhooks',
  'settings',
] as const
export type ManagedFamily = (typeof MANAGED_FAMILIES)[number]

/** Fields that hold secrets: files refer to where those are, as ${env:NAME}. Left out, they stay as they are. */
export const SECRET_FIELDS: Partial<Record<ManagedFamily, readonly string[]>> = {
  models: ['api_key'],
  'knowledge-sources': ['auth'],
  'api-tools': ['headers', 'auth'],
  webhooks: ['secret'],
}

const BODY_LIMIT = 64 * 1024 * 1024
export const MAX_RESOURCES = 10_000

const family = stringEnum(MANAGED_FAMILIES, { description: 'What it is, as its folder is called.' })
const name = Type.String({ description: 'What it is called, with #key behind it where others have the same name.' })
const file = Type.String({ minLength: 1, maxLength: 1_000, description: 'Where it is, for messages.' })
const fields = jsonObject(
  'Its fields as create takes them, with names in place of identifiers, and a key where others have the same name (referred to as name#key). A secret is its text, or {env: NAME} where that variable is not set: then the one there stays.',
)
const families = Type.Array(family, { minItems: 1, uniqueItems: true, description: 'Only these families.' })

const Export = object(
  {
    resources: Type.Array(object({ family, name, file, fields }), { description: 'One a file, in the order in which they can be made.' }),
    notes: Type.Array(Type.String(), { description: 'What is not part of it, and why.' }),
  },
  { description: 'Every resource as a file holds it: without identifiers, times and secrets.' },
)

const value = (description: string) => Type.Optional(Type.Unknown({ description }))
const Change = object({
  family,
  name,
  id: nullable(Type.String({ description: 'Its identifier; null for what would be created.' })),
  action: stringEnum(['create', 'update', 'unchanged', 'delete'], { description: 'What was done, or would be.' }),
  fields: Type.Array(
    object({ field: Type.String({ description: 'Which field.' }), from: value('What it held.'), to: value('What it holds then.') }),
    {
      description: 'What is other than before. Secrets are named and not shown.',
    },
  ),
})
const plan = Type.String({ minLength: 1, maxLength: 100, description: 'Stands for exactly these changes to what is there now.' })
export const ApplyResult = object(
  {
    plan,
    changes: Type.Array(Change, { description: 'One a resource, in the order in which they were made.' }),
    secrets: Type.Array(object({ family, name, secret: Type.String({ description: 'A signing secret that was made, shown only now.' }) }), {
      description: 'Secrets that were made.',
    }),
    missing: Type.Array(
      object({
        variable: Type.String({ description: 'Which variable of the environment.' }),
        file,
        field: Type.String({ description: 'The field that it is for.' }),
      }),
      { description: 'Secrets without which it cannot be done.' },
    ),
    notes: Type.Array(Type.String(), { description: 'What else to know.' }),
  },
  { description: 'What was changed, or would be.' },
)

export const asCodeRoutes = {
  export: route({
    id: 'as-code.export',
    family: 'as-code',
    method: 'GET',
    path: '/export',
    summary: 'Export every resource',
    description:
      'What apply takes: applied to an empty home, it gives the same export again. Documents, conversations and tokens are not part of it, nor is what the caller may not see. Of several resources with one name, all but the oldest have a key.',
    access: 'read',
    response: Export,
  }),
  apply: route({
    id: 'as-code.apply',
    family: 'as-code',
    method: 'POST',
    path: '/apply',
    summary: 'Make the configuration what a set of resources says',
    description:
      'Resources are found again by their names, and by the key where several share one; fields that are left out get their defaults. All of it is done in one transaction, or none; what is as it shall be is not touched. With prune, what the set does not hold is deleted. Of each family, callers may do what they may elsewhere.',
    access: 'change',
    body: object(
      {
        resources: Type.Array(object({ family, ...optional({ file }), fields }), {
          minItems: 1,
          maxItems: MAX_RESOURCES,
          description: 'What there shall be, in any order.',
        }),
        ...optional({
          prune: Type.Boolean({ default: false, description: 'Delete resources that the set does not hold.' }),
          families,
          dry_run: Type.Boolean({ default: false, description: 'Only say what would be done.' }),
          plan: { ...plan, description: 'What a dry run answered: 409 if anything else would be done by now.' },
        }),
      },
      {
        examples: [
          {
            resources: [{ family: 'agents', file: 'agents/helper.yaml', fields: { name: 'Helper', model_id: 'embedded' } }],
            dry_run: true,
          },
        ],
      },
    ),
    bodyLimit: BODY_LIMIT,
    response: ApplyResult,
    revealsSecret: true,
  }),
}
