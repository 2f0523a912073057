/** What tools a document would become: one an operation, and for the others why not. */
import type { ArgumentLocation } from '../../../src/contract/families/api-tools.ts'
import { readDocument } from './document.ts'
import { inputsOf } from './inputs.ts'
import { Inexpressible, type JsonObject, objectOf, Unusable } from './json.ts'
import { descriptionOf, nameOf, type Operation, operationsOf, selected, titleOf } from './operations.ts'
import { References } from './references.ts'
import { Schemas } from './schemas.ts'
import { type Proof, securityOf } from './security.ts'
import { type ServerChoice, serverOf } from './servers.ts'

export interface PlanOptions extends ServerChoice {
  only?: readonly string[] | undefined
  prefix: string
  includeDeprecated: boolean
}

export interface PlannedTool {
  operation: string
  name: string
  description: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  url: string
  parameters: JsonObject
  locations: Record<string, ArgumentLocation>
  body_format: 'json' | 'form'
  contentType: string | undefined
  security: Proof[][]
  notes: string[]
}

export interface Plan {
  title: string
  version: string
  tools: PlannedTool[]
  skipped: { operation: string; reason: string }[]
}

/** More than an agent, or the person who chooses its tools, could tell apart. */
const MOST_TOOLS = 500
const MADE = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

export function planned(text: string, options: PlanOptions): Plan {
  const { root, dialect, title, version } = readDocument(text)
  const references = new References(root)
  const wanted = selected(operationsOf(root, references), options.only)
  if (wanted.length > MOST_TOOLS)
    throw new Unusable(`it has ${wanted.length} operations, and at most ${MOST_TOOLS} become tools at once`, {
      hint: 'Choose some with only (--only).',
    })
  const tools: PlannedTool[] = []
  const skipped: Plan['skipped'] = []
  for (const operation of wanted) {
    try {
      tools.push(toolOf(operation, root, references, new Schemas(references, dialect), options, tools))
    } catch (error) {
      if (!(error instanceof Inexpressible)) throw error
      skipped.push({ operation: titleOf(operation), reason: `${error.message}.`.replace(/^./, (letter) => letter.toUpperCase()) })
    }
  }
  return { title, version, tools, skipped }
}

function toolOf(
  operation: Operation,
  root: JsonObject,
  references: References,
  schemas: Schemas,
  options: PlanOptions,
  before: readonly PlannedTool[],
): PlannedTool {
  const { method, own } = operation
  if (!MADE.includes(method)) throw new Inexpressible(`tools make no ${method} requests`)
  if (own.deprecated === true && !options.includeDeprecated) throw new Inexpressible('it is deprecated')
  checkAnswers(operation, references)
  const server = serverOf(operation, root, options)
  const { built, opened } = schemas.fitting((convert) => inputsOf(operation, references, convert, options.includeDeprecated))
  const { path, notes, ...inputs } = built
  const url = server + path
  if (url.length > 2_000) throw new Inexpressible('its address is longer than 2000 characters')
  return {
    operation: titleOf(operation),
    name: unused(options.prefix, operation, before),
    description: descriptionOf(operation),
    method: method as PlannedTool['method'],
    url,
    ...inputs,
    security: securityOf(own, root, references),
    notes: opened ? [...notes, 'deep or circular parts of its arguments are not described'] : notes,
  }
}

/** The name, or the one of method and path where another has it: operationIds should be unique, and not all are. */
function unused(prefix: string, operation: Operation, before: readonly PlannedTool[]): string {
  const names = [nameOf(operation), nameOf({ ...operation, own: {} })].map((name) => prefix + name)
  const free = names.find((name) => !before.some((tool) => tool.name === name))
  if (free === undefined) throw new Inexpressible(`another operation is called ${names[0]} already`)
  return free
}

const UNREADABLE = /^(image\/(?!svg)|audio\/|video\/|font\/|application\/(octet-stream|zip|gzip|pdf)|text\/event-stream)/i

/** An operation that answers nothing but pictures, archives or events without end is of no use to a reader of text. */
function checkAnswers({ own }: Operation, references: References): void {
  const fine = Object.entries(objectOf(own.responses)).filter(([status]) => /^2/.test(status))
  const types = fine.flatMap(([, answer]) => Object.keys(objectOf(references.resolved(answer).content)))
  if (types.length > 0 && types.every((type) => UNREADABLE.test(type)))
    throw new Inexpressible(`it answers ${types.join(' or ').slice(0, 100)}, and tools read JSON and text`)
}
