/** Database records of API tools; values of headers and authentication are encrypted. */
import type { Static } from 'typebox'
import { ApiTool, type ApiToolCreate, type ApiToolUpdate } from '../../src/contract/families/api-tools.ts'
import { Records, type StoredRecord } from '../store/records.ts'

export type ApiToolInput = Static<typeof ApiToolCreate> | Static<typeof ApiToolUpdate>
export type StoredApiTool = Static<typeof ApiTool> & StoredRecord & { secrets: string | null }

export const apiToolRecords = new Records<StoredApiTool>({ table: 'api_tools', schema: ApiTool, hidden: ['secrets'] })
