/** Formats how many documents of a source were indexed, could not be read or were skipped. */
import type { KnowledgeSource } from '../../contract/families/knowledge-sources.ts'
import { formatCount } from '../terminal/format-quantity.ts'

type Statistics = KnowledgeSource['statistics']

/** Returns `2 documents, 5 passages`, without the unreadable documents. */
export const formatIndexed = ({ documents, failed, recognizing, chunks }: Statistics): string =>
  `${formatCount(documents - failed - recognizing, 'document')}, ${formatCount(chunks, 'passage')}`

/** Returns `; 1 document unreadable`, or nothing. */
export const formatUnreadable = ({ failed }: Statistics): string => (failed > 0 ? `; ${formatCount(failed, 'document')} unreadable` : '')

const MAX_LISTED_TYPES = 5

/** Returns `; 3 files skipped: 2 .heic, 1 .mp3`, or nothing. */
export function formatSkipped({ skipped, skipped_types }: Statistics): string {
  if (skipped === 0) return ''
  const types = Object.entries(skipped_types)
    .sort(([, a], [, b]) => b - a)
    .map(([type, count]) => `${count} ${type === '' ? 'without extension' : `.${type}`}`)
  const more = types.length > MAX_LISTED_TYPES ? ', …' : ''
  return `; ${formatCount(skipped, 'file')} skipped: ${types.slice(0, MAX_LISTED_TYPES).join(', ')}${more}`
}

/** An image takes about a second and a half of one core. */
const SECONDS_PER_SCAN = 1.5

/** Returns how long text recognition will take: `5,000 images and scans to recognise, about 2 h in the background`. */
export function formatRecognition({ recognizing }: Statistics): string {
  const minutes = Math.ceil((recognizing * SECONDS_PER_SCAN) / 60)
  const time = minutes < 60 ? `${minutes} min` : `${Math.round(minutes / 60)} h`
  const scans = recognizing === 1 ? 'image or scan' : 'images and scans'
  return `${formatCount(recognizing)} ${scans} to recognise, about ${time} in the background`
}
