import type { Static } from 'typebox'
import { PromptTemplate } from '../../src/contract/families/prompt-templates.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type StoredPromptTemplate = Static<typeof PromptTemplate> & StoredRecord

export const promptTemplateRecords = new Records<StoredPromptTemplate>({ table: 'prompt_templates', schema: PromptTemplate })
