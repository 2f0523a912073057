/** Finds the document of a text source: the text in its configuration. */
import { hash } from 'node:crypto'
import type { SourceDocument, SourceOptions } from './source-document.ts'

export async function* findText({ configuration }: SourceOptions): AsyncGenerator<SourceDocument> {
  const bytes = Buffer.from((configuration as { text: string }).text, 'utf8')
  yield { name: 'text.md', fingerprint: hash('sha256', bytes, 'hex'), read: async () => bytes }
}
