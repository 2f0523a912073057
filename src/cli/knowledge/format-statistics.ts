/** Formats how many documents of a source were indexed and how many could not be read. */
import type { KnowledgeSource } from '../../contract/families/knowledge-sources.ts'
import { formatCount } from '../terminal/format-quantity.ts'

type Statistics = KnowledgeSource['statistics']

/** Returns `2 documents, 5 passages`, without the unreadable documents. */
export const formatIndexed = ({ documents, failed, chunks }: Statistics): string =>
  `${formatCount(documents - failed, 'document')}, ${formatCount(chunks, 'passage')}`

/** Returns `; 1 document unreadable`, or nothing. */
export const formatUnreadable = ({ failed }: Statistics): string => (failed > 0 ? `; ${formatCount(failed, 'document')} unreadable` : '')
