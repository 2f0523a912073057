/** Which documents may have tables. */
import type { OriginalContent } from '../../store/original-store.ts'

/** Types of documents with tables. The content of those with a pattern must match it. */
const PATTERNS = new Map<string, RegExp | undefined>([
  ...'csv tsv tab json jsonl ndjson xlsx xlsm ods docx pdf'.split(' ').map((type) => [type, undefined] as const),
  ...'md markdown mdx txt'.split(' ').map((type) => [type, /^[ \t]*(?:\|[ \t]*)?:?-+:?[ \t]*\|/m] as const),
  ...'html htm xhtml'.split(' ').map((type) => [type, /<table/i] as const),
])

export const hasTableType = (type: string): boolean => PATTERNS.has(type)

/** Reads the content only if its type does not decide. A large document may have tables. */
export async function mayHaveTables(type: string, read: () => Promise<OriginalContent>): Promise<boolean> {
  if (!PATTERNS.has(type)) return false
  const pattern = PATTERNS.get(type)
  if (!pattern) return true
  const content = await read()
  return typeof content === 'string' || pattern.test(Buffer.from(content).toString('latin1'))
}
