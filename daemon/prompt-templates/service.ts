/** Prompt templates: text with {{variables}}. */
import type { Static } from 'typebox'
import { CadreError, createNotFoundError, createValidationError } from '../../src/contract/errors.ts'
import { type PromptTemplateCreate, type PromptTemplateUpdate, promptTemplates } from '../../src/contract/families/prompt-templates.ts'
import type { Caller } from '../core/caller.ts'
import { Resource } from '../crud/resource.ts'
import type { Database, Reader } from '../store/database.ts'
import { promptTemplateRecords, type StoredPromptTemplate } from './store.ts'
import { listVariables, renderTemplate } from './template.ts'

type PromptTemplateInput = Static<typeof PromptTemplateCreate> | Static<typeof PromptTemplateUpdate>

export class PromptTemplatesService extends Resource<StoredPromptTemplate, PromptTemplateInput> {
  constructor(database: Database) {
    super(database, promptTemplates, promptTemplateRecords, {
      prepare: async (record, given) => ({ ...record, variables: checkVariables(record.template, given.variables) }),
    })
  }

  async render(caller: Caller, id: string, values: Record<string, unknown>): Promise<{ text: string }> {
    await this.require(this.database, caller, id)
    const { text, missing } = await this.fill(this.database, id, values)
    if (missing.length > 0)
      throw new CadreError('VALIDATION_ERROR', `variables: there is no value for ${missing.join(', ')}.`, {
        details: missing.map((name) => ({ field: `variables.${name}`, problem: 'is required' })),
      })
    return { text }
  }

  /** Returns the text and the names of variables without a value. */
  async fill(reader: Reader, id: string, values: Record<string, unknown>): Promise<{ text: string; missing: string[] }> {
    const found = await this.records.get(reader, id)
    if (!found) throw createNotFoundError(this.family.noun, id)
    return fillTemplate(found, values)
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

function checkVariables(template: string, given: string[] | undefined): string[] {
  const found = listVariables(template)
  if (given === undefined) return found
  const unused = given.filter((name) => !found.includes(name))
  if (unused.length > 0)
    throw createValidationError(
      'variables',
      `the template does not use ${unused.join(', ')}`,
      'Omit variables to detect them automatically.',
    )
  const unnamed = found.filter((name) => !given.includes(name))
  if (unnamed.length > 0)
    throw createValidationError(
      'variables',
      `the template also uses ${unnamed.join(', ')}`,
      'Omit variables to detect them automatically.',
    )
  return given
}
