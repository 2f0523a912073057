/** Reads the currency of prices and costs. */
import { DEFAULT_CURRENCY } from '../../src/contract/schemas/currency.ts'
import type { DatabaseReader } from '../store/database.ts'

export async function readCurrency(reader: DatabaseReader): Promise<string> {
  return (await reader.get<{ currency: string }>("SELECT currency FROM settings WHERE id = 'settings'"))?.currency ?? DEFAULT_CURRENCY
}
