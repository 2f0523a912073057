/** Prompt templates: text with {{variables}}. */
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import { promptTemplates } from '../../src/contract/families/prompt-templates.ts'
import type { Caller } from '../core/caller.ts'
import { type FamilyInput, Resource } from '../crud/resource.ts'
import type { Database, Reader } from '../store/database.ts'
import { promptTemplateRecords, type StoredPromptTemplate } from './store.ts'
import { listVariables, renderTemplate } from './template.ts'

export class PromptTemplatesService extends Resource<StoredPromptTemplate, FamilyInput<typeof promptTemplates>> {
  constructor(database: Database) {
    super(database, promptTemplates, promptTemplateRecords, {
      prepare: async (record, input) => ({ ...record, variables: checkVariables(record.template, input.variables) }),
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
  async fill(reader: Reader, id: string, values: Record<string, unknown>): Promise<{ text: string; missing: string[] }> {
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
  const missing = variables.filter((name) => !Object.hasOwn(values, name) || values[name] === null)
  return { text: renderTemplate(template, values), missing }
}

function checkVariables(template: string, declared: string[] | undefined): string[] {
  const used = listVariables(template)
  if (declared === undefined) return used
  const unused = declared.filter((name) => !used.includes(name))
  const undeclared = used.filter((name) => !declared.includes(name))
  if (unused.length === 0 && undeclared.length === 0) return declared
  const problem = unused.length > 0 ? `does not use ${unused.join(', ')}` : `also uses ${undeclared.join(', ')}`
  throw createValidationError('variables', `the template ${problem}`, 'Omit variables to detect them automatically.')
}
