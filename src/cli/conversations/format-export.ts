/** Formats a conversation for a file: Markdown, JSON or HTML. */
import { extname } from 'node:path'
import type { Connection } from '../../client/request.ts'
import type { Conversation } from '../../contract/families/conversations.ts'
import { formatJson } from '../terminal/render.ts'
import { getSpeakers } from './format-conversation.ts'
import { formatConversationMarkdown } from './format-markdown.ts'

export const EXPORT_FORMATS = ['md', 'json', 'html'] as const
type ExportFormat = (typeof EXPORT_FORMATS)[number]

/** Returns undefined if the extension is none of the formats. */
export function resolveExportFormat(file: string): ExportFormat | undefined {
  const extension = extname(file).slice(1).toLowerCase()
  return EXPORT_FORMATS.find((format) => format === extension)
}

export async function formatExport(connection: Connection, conversation: Conversation, format: ExportFormat): Promise<string> {
  if (format === 'json') return `${formatJson(conversation)}\n`
  const speakers = await getSpeakers(connection, conversation)
  if (format === 'md') return formatConversationMarkdown(conversation, speakers)
  const { formatConversationHtml } = await import('./format-html.ts')
  return formatConversationHtml(conversation, speakers)
}
