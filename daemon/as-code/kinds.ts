/** Describes each family for files: its fields, references and secrets. */
import type { Family } from '../../src/contract/crud.ts'
import { agents } from '../../src/contract/families/agents.ts'
import { apiTools } from '../../src/contract/families/api-tools.ts'
import type { ManagedFamily } from '../../src/contract/families/as-code.ts'
import { evaluations } from '../../src/contract/families/evaluations.ts'
import { knowledgeSources } from '../../src/contract/families/knowledge-sources.ts'
import { mcpServers } from '../../src/contract/families/mcp/mcp-servers.ts'
import { mcpTools } from '../../src/contract/families/mcp/mcp-tools.ts'
import { models } from '../../src/contract/families/models.ts'
import { promptTemplates } from '../../src/contract/families/prompt-templates.ts'
import { ragTools } from '../../src/contract/families/rag-tools.ts'
import { retrievalTools } from '../../src/contract/families/retrieval-tools.ts'
import { usageThresholds } from '../../src/contract/families/usage.ts'
import { webhooks } from '../../src/contract/families/webhooks.ts'
import { DEFAULT_EMBEDDING_MODEL } from '../../src/contract/schemas/passages.ts'
import { removeRepositoryCredentials } from '../../src/contract/url-credentials.ts'
import { createSigningSecret } from '../../src/webhook-signature.ts'

export type Fields = Record<string, unknown>
export type ManagedResource = Exclude<ManagedFamily, 'settings'>

export interface ReferenceRule {
  /** Path of the field; * matches every list item. */
  path: readonly string[]
  /** Families it may refer to; empty if the value is not a reference. */
  getFamilies(fields: Fields): readonly ManagedResource[]
  /** Values that are not references. */
  keywords?: readonly string[]
  /** Keeps unknown names instead of failing. */
  allowUnknown?: boolean
}

/** Formats a reference to the environment variable of a secret. */
export type SecretReference = (secret: string) => string

export interface Kind {
  name: ManagedResource
  family: Family
  /** The field that identifies it. Thresholds have none and are identified by what they count. */
  label: 'name' | 'url' | undefined
  /** Default: the fields of the create schema. */
  fields?: readonly string[]
  references: readonly ReferenceRule[]
  /** Removes secrets from plain fields. */
  redact?(record: Fields): Fields
  /** Returns the secret fields with references instead of values. */
  referenceSecrets?(record: Fields, reference: SecretReference): Fields
  /** Generates secrets that the file does not contain. */
  generateSecrets?(): Fields
  immutableFields?: readonly string[]
  /** Declared fields that every update contains, because a change of other fields resets them or requires them. */
  resentFields?: readonly string[]
  /** Whether a file contains the field even if its value is the default of the schema. */
  isAlwaysWritten?(field: string, fields: Fields): boolean
  /** References without which it cannot be created. */
  requiredReferences?: readonly string[]
}

const FAMILIES_BY_TYPE = new Map<unknown, ManagedResource>([
  ['agent', 'agents'],
  ['model', 'models'],
  ['rag_tool', 'rag-tools'],
  ['prompt_template', 'prompt-templates'],
  ['evaluation', 'evaluations'],
])

const refersTo = (path: string, ...families: ManagedResource[]): ReferenceRule => ({ path: path.split('.'), getFamilies: () => families })
const refersByType = (path: string, field: string): ReferenceRule => ({
  path: path.split('.'),
  getFamilies: (fields) => [FAMILIES_BY_TYPE.get(fields[field]) ?? []].flat(),
})
const embeddingModel: ReferenceRule = { ...refersTo('embedding_model', 'models'), keywords: [DEFAULT_EMBEDDING_MODEL] }

const TOOL_FAMILIES: readonly ManagedResource[] = ['rag-tools', 'retrieval-tools', 'api-tools', 'mcp-tools']

export const SETTINGS_REFERENCES: readonly ReferenceRule[] = [refersTo('default_model_id', 'models')]

const createKind = (family: Family, options: Partial<Kind> = {}): Kind => ({
  name: family.name as ManagedResource,
  family,
  label: 'name',
  references: [],
  ...options,
})

export const KINDS: readonly Kind[] = [
  createKind(models, {
    // A replay model names the recorded model, which need not exist here.
    references: [{ path: ['model_id'], getFamilies: ({ provider }) => (provider === 'replay' ? ['models'] : []), allowUnknown: true }],
    referenceSecrets: ({ has_api_key }, reference) => (has_api_key ? { api_key: reference('api_key') } : {}),
  }),
  createKind(promptTemplates),
  createKind(knowledgeSources, {
    fields: ['name', 'description', 'folder_descriptions', 'type', 'configuration', 'auth'],
    redact: ({ configuration, ...fields }) => ({ ...fields, configuration: removeRepositoryCredentials(configuration as Fields) }),
    referenceSecrets: ({ auth }, reference) => referenceAuthSecrets(auth, reference),
    immutableFields: ['type'],
  }),
  createKind(ragTools, {
    references: [refersTo('knowledge_source_id', 'knowledge-sources'), refersTo('model_id', 'models'), embeddingModel],
    requiredReferences: ['knowledge_source_id'],
  }),
  createKind(retrievalTools, {
    references: [refersTo('knowledge_source_ids.*', 'knowledge-sources'), embeddingModel],
    requiredReferences: ['knowledge_source_ids'],
  }),
  createKind(apiTools, {
    referenceSecrets: referenceApiToolSecrets,
    resentFields: ['requires_confirmation', 'headers', 'auth'],
    // The default depends on the method.
    isAlwaysWritten: (field, { method }) => field === 'requires_confirmation' && method !== 'GET',
  }),
  createKind(mcpServers, { referenceSecrets: referenceMcpServerSecrets, resentFields: ['env', 'headers', 'auth'] }),
  createKind(mcpTools, {
    references: [refersTo('mcp_server_id', 'mcp-servers')],
    requiredReferences: ['mcp_server_id'],
    immutableFields: ['mcp_server_id'],
    resentFields: ['requires_confirmation'],
  }),
  createKind(agents, {
    references: [
      refersTo('model_id', 'models'),
      refersTo('tools.*', ...TOOL_FAMILIES),
      refersTo('allowed_tools.*', ...TOOL_FAMILIES),
      refersTo('prompt_template_id', 'prompt-templates'),
    ],
  }),
  createKind(evaluations, {
    references: [
      refersByType('target_id', 'type'),
      refersTo('scorers.*.model_id', 'models'),
      refersTo('test_cases.*.scorers.*.model_id', 'models'),
    ],
    requiredReferences: ['target_id'],
  }),
  createKind(usageThresholds, {
    label: undefined,
    references: [refersByType('entity_id', 'entity_type')],
    immutableFields: ['entity_type', 'entity_id'],
  }),
  createKind(webhooks, {
    label: 'url',
    referenceSecrets: (_, reference) => ({ secret: reference('secret') }),
    generateSecrets: () => ({ secret: createSigningSecret() }),
  }),
]

const AUTH_VALUES: Record<string, readonly string[]> = { bearer: ['token'], basic: ['username', 'password'], api_key: ['value'] }

function referenceApiToolSecrets({ header_names, auth }: Fields, reference: SecretReference): Fields {
  return { ...referenceValues('headers', header_names, 'header', reference), ...referenceAuthSecrets(auth, reference) }
}

function referenceMcpServerSecrets({ env_names, header_names, auth }: Fields, reference: SecretReference): Fields {
  return {
    ...referenceValues('env', env_names, 'env', reference),
    ...referenceValues('headers', header_names, 'header', reference),
    ...((auth as Fields).type === 'oauth' ? referenceOAuthSecret(auth as Fields, reference) : referenceAuthSecrets(auth, reference)),
  }
}

/** Tokens are not part of files: users sign in again. */
const referenceOAuthSecret = (auth: Fields, reference: SecretReference): Fields => ({
  auth: { ...auth, ...(auth.client_id === undefined ? {} : { client_secret: reference('auth_client_secret') }) },
})

function referenceValues(field: string, names: unknown, prefix: string, reference: SecretReference): Fields {
  const entries = (names as string[]).map((name) => [name, reference(`${prefix}_${name}`)])
  return entries.length > 0 ? { [field]: Object.fromEntries(entries) } : {}
}

function referenceAuthSecrets(auth: unknown, reference: SecretReference): Fields {
  const shown = auth as { type: string }
  const values = AUTH_VALUES[shown.type] ?? []
  return values.length > 0 ? { auth: { ...shown, ...Object.fromEntries(values.map((value) => [value, reference(`auth_${value}`)])) } } : {}
}
