/** Prompt templates: text with {{variables}}. */
import { isDeepStrictEqual } from 'node:util'
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import { promptTemplates } from '../../src/contract/families/prompt-templates.ts'
import type { Caller } from '../core/caller.ts'
import { type FamilyInput, Resource } from '../crud/resource.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import { promptTemplateRecords, type StoredPromptTemplate } from './store.ts'
import { listVariables, normalizeName, renderTemplate } from './template.ts'

/** Lists the first agents that use a template and have no value for one of the variables, and their number. */
type ListAgentsWithout = (
  reader: DatabaseReader,
  templateId: string,
  variables: readonly string[],
) => Promise<{ agents: { id: string; name: string }[]; total: number }>

export class PromptTemplatesService extends Resource<StoredPromptTemplate, FamilyInput<typeof promptTemplates>> {
  constructor(database: Database, listAgentsWithout: ListAgentsWithout) {
    super(database, promptTemplates, promptTemplateRecords, {
      prepare: async (record, input, { current }) => ({
        ...record,
        variables: resolveVariables(record.template, input.variables, current),
      }),
      checkUsers: async (transaction, { id, name, variables }, previous) => {
        const added = variables.filter((variable) => !previous.variables.includes(variable))
        const { agents, total } = added.length > 0 ? await listAgentsWithout(transaction, id, added) : { agents: [], total: 0 }
        if (total > 0) throw createMissingVariablesError(name, added, agents, total)
      },
    })
  }

  async render(caller: Caller, id: string, values: Record<string, unknown>): Promise<{ text: string }> {
    const { text, missing } = fillTemplate(await this.require(this.database, caller, id), values)
    if (missing.length > 0)
      throw new CadreError('VALIDATION_ERROR', `variables: there is no value for ${missing.join(', ')}.`, {
        details: missing.map((name) => ({ field: `variables.${name}`, problem: 'is required' })),
      })
    return { text }
  }

  /** Returns the text and the names of variables without a value. */
  async fill(reader: DatabaseReader, id: string, values: Record<string, unknown>): Promise<{ text: string; missing: string[] }> {
    const stored = await this.records.get(reader, id)
    if (!stored) throw createNotFoundError(this.family.noun, id)
    return fillTemplate(stored, values)
  }
}

/** Returns the text and the names of variables without a value. */
export function fillTemplate(
  { template, variables }: Pick<StoredPromptTemplate, 'template' | 'variables'>,
  values: Record<string, unknown>,
): { text: string; missing: string[] } {
  const normalized = Object.fromEntries(Object.entries(values).map(([name, value]) => [normalizeName(name), value]))
  const missing = variables.filter((name) => !Object.hasOwn(normalized, name) || normalized[name] === null)
  return { text: renderTemplate(template, variables, normalized), missing }
}

/** Variables that are empty, or those of the previous text, are those that the text uses. */
function resolveVariables(template: string, given: string[] | undefined, current: StoredPromptTemplate | undefined): string[] {
  const used = listVariables(template)
  const declared = given?.map(normalizeName)
  if (!declared?.length || (current?.template !== template && isDeepStrictEqual(declared, current?.variables))) return used
  const unused = declared.filter((name) => !used.includes(name))
  const undeclared = used.filter((name) => !declared.includes(name))
  if (unused.length === 0 && undeclared.length === 0) return declared
  const problem = unused.length > 0 ? `does not use ${unused.join(', ')}` : `also uses ${undeclared.join(', ')}`
  throw createValidationError('variables', `the template ${problem}`, 'Omit variables to detect them automatically.')
}

function createMissingVariablesError(
  template: string,
  added: readonly string[],
  agents: readonly { id: string; name: string }[],
  total: number,
): CadreError {
  const examples = agents.slice(0, 3).map(({ id, name }) => `"${name}" (${id})`)
  const more = total > examples.length ? ` and ${total - examples.length} more` : ''
  const variables = added.join(', ')
  const message = `The prompt template "${template}" would need ${variables}, which agents do not set: ${examples.join(', ')}${more}.`
  return new CadreError('CONFLICT', message, {
    details: agents.map(({ id }) => ({ field: `${id}.variables`, problem: `there is no value for ${variables}` })),
    hint: 'Set the variables of these agents first.',
  })
}
