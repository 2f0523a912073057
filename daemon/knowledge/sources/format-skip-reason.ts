/** Why files are skipped. */
import { IMAGE_TYPES } from '../../../src/contract/document-types.ts'
import { getExtension } from '../../../src/files/selection.ts'
import { RECOGNITION_OFF_MESSAGE } from '../readers/read-image.ts'

export const REPOSITORY_IMAGE_MESSAGE = 'Images of repositories are read only if file_types names their type.'

const HEIC_TYPES = new Set(['heic', 'heif', 'hif'])

/** Formats why a file of a folder or repository is not a document. */
export function formatSkipReason(name: string, imageReason = RECOGNITION_OFF_MESSAGE): string {
  const extension = getExtension(name)
  if (IMAGE_TYPES.includes(extension)) return imageReason
  if (HEIC_TYPES.has(extension)) return 'HEIC images are not supported. Convert it to JPEG.'
  return extension === '' ? 'Files without an extension are not read.' : `Files of type .${extension} are not supported.`
}
