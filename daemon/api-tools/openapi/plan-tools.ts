/** Plans one tool per operation of a document, with a reason for each skipped operation. */
import { METHODS, type Method } from '../../../src/contract/route.ts'
import { buildInputs, type ToolInputs } from './build-inputs.ts'
import { InvalidDocumentError, type JsonObject, toObject, UnsupportedOperationError } from './json.ts'
import { listSecurity, type SecurityRequirement } from './list-security.ts'
import { createToolName, formatOperation, getDescription, listOperations, type Operation, selectOperations } from './operations.ts'
import { readDocument } from './read-document.ts'
import { ReferenceResolver } from './reference-resolver.ts'
import { resolveServer, type ServerChoice } from './resolve-server.ts'
import { SchemaConverter } from './schema-converter.ts'

export interface PlanOptions extends ServerChoice {
  only?: readonly string[] | undefined
  prefix: string
  includeDeprecated: boolean
}

export interface PlannedTool extends Omit<ToolInputs, 'path'> {
  operation: string
  name: string
  description: string
  method: Method
  url: string
  security: SecurityRequirement[][]
}

export interface Plan {
  title: string
  tools: PlannedTool[]
  skipped: { operation: string; reason: string }[]
}

const MAX_TOOLS = 500

export function planTools(text: string, options: PlanOptions): Plan {
  const { root, dialect, title } = readDocument(text)
  const references = new ReferenceResolver(root)
  const operations = selectOperations(listOperations(root, references), options.only)
  if (operations.length > MAX_TOOLS)
    throw new InvalidDocumentError(`it has ${operations.length} operations; at most ${MAX_TOOLS} can be imported at once`, {
      hint: 'Select operations with only (--only).',
    })
  const tools: PlannedTool[] = []
  const skipped: Plan['skipped'] = []
  for (const operation of operations) {
    try {
      tools.push(planTool(operation, root, references, new SchemaConverter(references, dialect), options, tools))
    } catch (error) {
      if (!(error instanceof UnsupportedOperationError)) throw error
      skipped.push({ operation: formatOperation(operation), reason: `${error.message}.`.replace(/^./, (letter) => letter.toUpperCase()) })
    }
  }
  return { title, tools, skipped }
}

function planTool(
  operation: Operation,
  root: JsonObject,
  references: ReferenceResolver,
  schemas: SchemaConverter,
  options: PlanOptions,
  plannedTools: readonly PlannedTool[],
): PlannedTool {
  const { definition } = operation
  const method = METHODS.find((supported) => supported === operation.method)
  if (method === undefined) throw new UnsupportedOperationError(`${operation.method} requests are not supported`)
  if (definition.deprecated === true && !options.includeDeprecated) throw new UnsupportedOperationError('it is deprecated')
  checkResponses(operation, references)
  const server = resolveServer(operation, root, options)
  const { built, isTruncated } = schemas.buildToFit((convert) => buildInputs(operation, references, convert, options.includeDeprecated))
  const { path, notes, ...inputs } = built
  const url = server + path
  if (url.length > 2_000) throw new UnsupportedOperationError('its URL is longer than 2000 characters')
  return {
    operation: formatOperation(operation),
    name: createUniqueName(options.prefix, operation, plannedTools),
    description: getDescription(operation),
    method,
    url,
    ...inputs,
    security: listSecurity(definition, root, references),
    notes: isTruncated ? [...notes, 'deep or circular parts of its arguments are not described'] : notes,
  }
}

/** Falls back to method and path: not all documents have unique operationIds. */
function createUniqueName(prefix: string, operation: Operation, plannedTools: readonly PlannedTool[]): string {
  const names = [createToolName(operation), createToolName({ ...operation, definition: {} })].map((name) => prefix + name)
  const free = names.find((name) => !plannedTools.some((tool) => tool.name === name))
  if (free === undefined) throw new UnsupportedOperationError(`another operation already has the name ${names[0]}`)
  return free
}

const UNREADABLE_TYPES = /^(image\/(?!svg)|audio\/|video\/|font\/|application\/(octet-stream|zip|gzip|pdf)|text\/event-stream)/i

/** Rejects operations that return only binary data or event streams. */
function checkResponses({ definition }: Operation, references: ReferenceResolver): void {
  const successes = Object.entries(toObject(definition.responses)).filter(([status]) => /^2/.test(status))
  const types = successes.flatMap(([, answer]) => Object.keys(toObject(references.resolve(answer).content)))
  if (types.length > 0 && types.every((type) => UNREADABLE_TYPES.test(type)))
    throw new UnsupportedOperationError(`it returns ${types.join(' or ').slice(0, 100)}, and tools read JSON and text only`)
}
