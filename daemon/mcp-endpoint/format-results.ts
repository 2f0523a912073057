/** Formats the results of tools as text for models. */
import type { McpDocument, McpPassage, McpSource } from '../../src/contract/mcp.ts'
import type { Citation } from '../../src/contract/schemas/messages.ts'
import type { Passage } from '../../src/contract/schemas/passages.ts'
import { formatPassagePlace } from '../core/places.ts'
import { formatDescriptions } from '../core/tool.ts'

export function formatPassages(passages: readonly McpPassage[]): string {
  if (passages.length === 0) return 'No passages were found.'
  const texts = passages.map((passage, index) => {
    const { document, source, headings, content, document_id } = passage
    const place = [`${document}, ${formatPassagePlace(passage)}`, `source ${source}`, document_id, ...(headings ? [headings] : [])].join(
      ' · ',
    )
    return `[${index + 1}] ${place}\n${content}`
  })
  return joinTexts(passages, texts)
}

const joinTexts = (passages: readonly Pick<Passage, 'descriptions'>[], texts: readonly string[]): string =>
  [formatDescriptions(passages), ...texts].filter((text) => text !== '').join('\n\n')

/** Passages as RAG tools and retrieval tools return them. */
export function formatFoundPassages(passages: readonly Passage[]): string {
  if (passages.length === 0) return 'No passages were found.'
  const texts = passages.map(({ content, metadata, stale }, index) => {
    const { source, document_id } = metadata
    return `[${index + 1}] ${source}, ${formatPassagePlace({ ...metadata, stale })}${document_id ? ` · ${document_id}` : ''}\n${content}`
  })
  return joinTexts(passages, texts)
}

export function formatCitedAnswer(
  answer: string,
  citations: readonly Pick<Citation, 'index' | 'source' | 'page' | 'place' | 'document_id' | 'stale'>[],
): string {
  if (citations.length === 0) return answer
  const sources = citations.map(
    (citation) => `[${citation.index}] ${citation.source}, ${formatPassagePlace(citation)} · ${citation.document_id}`,
  )
  return `${answer}\n\nSources:\n${sources.join('\n')}`
}

export function formatDocuments(documents: readonly McpDocument[]): string {
  return documents
    .map(({ document, source, text = '', from_line = 1, to_line = 0, lines = 0, next_character, error }) => {
      if (error !== undefined) return `# ${document}\n${error}`
      const rest =
        next_character !== undefined
          ? `\n[The rest of line ${to_line} was not read. Read on with from_line ${to_line} and from_character ${next_character}.]`
          : to_line < lines
            ? `\n[Lines ${to_line + 1} to ${lines} were not read. Read on with from_line ${to_line + 1}.]`
            : ''
      return `# ${document} (source ${source}, lines ${from_line} to ${to_line} of ${lines})\n${text}${rest}`
    })
    .join('\n\n')
}

export function formatSources(sources: readonly McpSource[]): string {
  if (sources.length === 0) return 'There are no knowledge sources.'
  const lines = sources.flatMap(({ name, type, documents, status, id, description, folders = [] }) => [
    `- ${name}: ${documents} ${documents === 1 ? 'document' : 'documents'}, type ${type}, ${status} (${id})`,
    ...(description ? [`  ${description}`] : []),
    ...folders.map((folder) => `  - ${folder.path}: ${folder.description}`),
  ])
  return lines.join('\n')
}

export function formatDocumentList(
  source: string,
  documents: readonly { name: string; id: string; status: string }[],
  page: number,
  pages: number,
): string {
  const lines = documents.map(({ name, id, status }) => `- ${name} (${id}${status === 'indexed' ? '' : `, ${status}`})`)
  return [`Documents of ${source}, page ${page} of ${pages}:`, ...lines].join('\n')
}
