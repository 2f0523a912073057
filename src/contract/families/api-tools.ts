/** API tools: tools that call HTTP APIs. */
import { type Static, Type } from 'typebox'
import { createAction, createBody, createCollectionAction, createCrudRoutes, createFamily, updateBody } from '../crud.ts'
import { METHODS, route } from '../route.ts'
import { authentication, basicAuth, bearerAuth, HEADER_NAME, headers, noAuth, secret } from '../schemas/auth.ts'
import { expose_mcp } from '../schemas/exposure.ts'
import {
  createExample,
  flag,
  httpUrl,
  integer,
  jsonObject,
  namedObject,
  nonEmptyText,
  nullable,
  optional,
  resource,
  resourceName,
  stringEnum,
  text,
} from '../schemas/fields.ts'

const name = resourceName('API tool')
const description = text('What the tool does. Models read it to decide when to call the tool.', 10_000)
const url = httpUrl('URL to call, with {placeholders} for arguments.')

const location = namedObject('ArgumentLocation', 'Location of an argument in the request.', {
  in: stringEnum(['query', 'header', 'cookie', 'body', 'whole_body'], {
    description: 'Part of the request. whole_body sends the argument as the entire body.',
  }),
  ...optional({
    name: nonEmptyText('Name in the request. Default: the name of the argument.', 200),
    style: stringEnum(['repeat', 'comma', 'brackets', 'json'], {
      default: 'repeat',
      description: 'Format of lists and objects in a query or form: a=1&a=2, a=1,2, a[b]=1 or JSON.',
    }),
  }),
})
export type ArgumentLocation = Static<typeof location>
const locations = Type.Unsafe<Record<string, ArgumentLocation>>({
  type: 'object',
  maxProperties: 500,
  description: 'Location of each argument that is not a placeholder in the URL. Default: the query for GET and DELETE, otherwise the body.',
  additionalProperties: location,
  examples: [{ trace: { in: 'header', name: 'X-Trace' } }],
})
const settings = {
  method: stringEnum(METHODS, { default: 'GET', description: 'HTTP method.' }),
  parameters: jsonObject(
    'JSON Schema of the arguments, of type object. Unknown arguments are rejected unless it sets additionalProperties.',
    {
      examples: [{ type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }],
    },
  ),
  locations,
  body_format: stringEnum(['json', 'form'], {
    default: 'json',
    description: 'Format of the body: JSON or form (application/x-www-form-urlencoded).',
  }),
  timeout_ms: integer('Request timeout, in milliseconds.', { minimum: 100, maximum: 300_000, default: 30_000 }),
  allow_private_network: flag('Whether the tool may call addresses in private networks. Only admins can set it.', false),
  requires_confirmation: flag(
    'Whether each call requires confirmation by the user. Default: true for all methods except GET; only admins can set it to ' +
      'false for these. It is reset when the method or URL changes.',
  ),
  expose_mcp,
}
const AUTH_TYPES = ['none', 'bearer', 'basic', 'api_key'] as const
const authName = Type.String({ pattern: HEADER_NAME, description: 'Name of the header or query parameter.' })
const authIn = stringEnum(['header', 'query'], { default: 'header', description: 'Location of the key.' })
const apiKeyAuth = namedObject('APIKeyAuth', 'Authentication with a key in a header or query parameter.', {
  type: Type.Literal('api_key'),
  name: authName,
  value: secret('Key.'),
  in: Type.Optional(authIn),
})
const auth = authentication('Authentication. The values are write-only.', [noAuth, bearerAuth, basicAuth, apiKeyAuth], {
  type: 'bearer',
  token: '<TOKEN>',
})
export type ApiToolSecrets = { headers: Record<string, string>; auth: Static<typeof auth> }

const example = {
  name: 'weather',
  description: 'Weather in a city',
  method: 'GET',
  url: 'https://api.example.com/weather/{city}',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}

const fields = {
  name,
  description,
  url,
  ...settings,
  header_names: Type.Array(Type.String(), { description: 'Names of the stored headers.' }),
  auth: namedObject('APIToolAuth', 'Authentication, without secret values.', {
    type: stringEnum(AUTH_TYPES, { description: 'Type of authentication.' }),
    ...optional({ name: authName, in: authIn }),
  }),
}
export const ApiTool = resource('API tool', fields, {
  description: 'A tool that calls an HTTP API.',
  examples: [createExample('api', example, fields, { auth: { type: 'none' } })],
})
const writable = { ...settings, headers, auth }
export const ApiToolCreate = createBody('API tool', { name, url }, { description, ...writable }, example)
export const ApiToolUpdate = updateBody(
  'API tool',
  { name, description, url, ...writable },
  { timeout_ms: 5_000 },
  ' headers replaces all existing headers. If the url leaves the path that headers and auth were set for, they must be sent again.',
)

export const apiTools = createFamily({
  name: 'api-tools',
  noun: 'API tool',
  prefix: 'api',
  resource: ApiTool,
  create: ApiToolCreate,
  update: ApiToolUpdate,
  computedDefaults: ['requires_confirmation'],
})

const credentials = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 20,
  additionalProperties: secret('A token, a key or user:password.'),
  writeOnly: true,
  description: 'Credentials of the tools, by type (bearer, basic, api_key) or by name of a security scheme of the document.',
})
export const ApiToolImport = namedObject(
  'APIToolImport',
  'An OpenAPI 3 document to import tools from.',
  optional({
    document: Type.Unsafe<string | Record<string, unknown>>({
      anyOf: [{ type: 'string', minLength: 1 }, { type: 'object' }],
      description: 'OpenAPI 3 document, as JSON or YAML text or as an object.',
    }),
    url: httpUrl('URL of the document, instead of document.'),
    only: Type.Array(Type.String({ minLength: 1, maxLength: 300 }), {
      minItems: 1,
      maxItems: 500,
      description: 'Operations to import: operationId, tag:name, /path or METHOD /path, with * as wildcard. Default: all.',
    }),
    server: httpUrl('Base URL, instead of the one in the document.'),
    server_variables: Type.Record(Type.String(), Type.String({ maxLength: 200 }), {
      description: "Values of the variables of the document's server.",
    }),
    prefix: Type.String({ maxLength: 50, pattern: '^[A-Za-z0-9_-]*$', description: 'Prefix of the name of each tool.' }),
    credentials,
    headers,
    timeout_ms: settings.timeout_ms,
    allow_private_network: settings.allow_private_network,
    requires_confirmation: settings.requires_confirmation,
    include_deprecated: flag('Whether to import deprecated operations and parameters.', false),
    update: flag(
      'Whether to update existing tools with the same name and server. If the method or URL of a tool changes, its permissions are ' +
        'reset unless they are part of this request.',
      false,
    ),
    dry_run: flag('Whether to return the result without making changes.', false),
  }),
  [{ url: 'https://api.example.com/openapi.json', only: ['tag:weather'], credentials: { bearer: '<TOKEN>' } }],
)

const operation = Type.String({ description: 'Method and path of the operation.' })
const imported = namedObject('ImportedAPITool', 'A tool of an import.', {
  operation,
  action: stringEnum(['create', 'update', 'keep'], { description: 'Action for the tool; keep if nothing changed.' }),
  id: nullable(Type.String({ description: 'Identifier of the tool; null if it was not created.' })),
  name,
  description,
  method: settings.method,
  url,
  parameters: settings.parameters,
  locations,
  body_format: settings.body_format,
  requires_confirmation: settings.requires_confirmation,
  auth: stringEnum([...AUTH_TYPES, 'kept'], { description: 'Type of authentication; kept if it is unchanged.' }),
  notes: Type.Array(Type.String(), { description: 'Notes about the import.' }),
})
const skipped = namedObject('SkippedOperation', 'An operation that was not imported.', {
  operation,
  reason: Type.String({ description: 'Why the operation was skipped.' }),
})
const securityScheme = namedObject('ImportedSecurityScheme', 'A security scheme of the imported operations.', {
  scheme: Type.String({ description: 'Name of the security scheme.' }),
  kind: stringEnum(['bearer', 'basic', 'api_key', 'other'], { description: 'Type of credential.' }),
  given: flag('Whether a credential was provided.'),
  tools: Type.Integer({ description: 'Number of tools that use the scheme.' }),
})
export const ApiToolImportResult = namedObject('APIToolImportResult', 'Result of an import.', {
  title: Type.String({ description: 'Title of the document.' }),
  tools: Type.Array(imported, { description: 'Imported tools, one per operation.' }),
  skipped: Type.Array(skipped, { description: 'Operations that cannot be imported.' }),
  security: Type.Array(securityScheme, { description: 'Security schemes of the operations.' }),
})

export const apiToolRoutes = {
  ...createCrudRoutes(apiTools, { read: 'read', change: 'write' }),
  import: route({
    ...createCollectionAction(apiTools, 'import'),
    callsExternalService: true,
    summary: 'Import OpenAPI operations',
    description:
      'Creates a tool for each operation of an OpenAPI 3 document, in one transaction. Returns skipped operations with the reason.',
    access: 'write',
    body: ApiToolImport,
    isBodyRequired: true,
    bodyLimit: 8 * 1024 * 1024,
    response: ApiToolImportResult,
  }),
  test: route({
    ...createAction(apiTools, 'test'),
    callsExternalService: true,
    summary: 'Test an API tool',
    access: 'write',
    body: namedObject('APIToolTest', 'A test call of a tool.', { arguments: Type.Optional(jsonObject('Arguments of the tool call.')) }, [
      { arguments: { city: 'Lisbon' } },
    ]),
    response: namedObject('APIToolTestResult', 'Response to the test call of a tool.', {
      status: Type.Integer({ description: 'HTTP status of the response.' }),
      headers: Type.Record(Type.String(), Type.String(), { description: 'Headers of the response.' }),
      body: nullable(Type.Unknown({ description: 'Body of the response, parsed if it is JSON.' })),
      latency_ms: Type.Number({ minimum: 0, description: 'Duration of the call, in milliseconds.' }),
    }),
  }),
}
