/** Validates the folders of folder descriptions. */
import { createValidationError } from '../../src/contract/errors.ts'

const MAX_PATH_LENGTH = 1_000

/** A folder is the start of document names, so another spelling of the same folder would describe nothing. */
export function validateFolders(descriptions: Record<string, string>): void {
  for (const folder of Object.keys(descriptions)) {
    const isInvalid =
      folder.trim() === '' ||
      folder.length > MAX_PATH_LENGTH ||
      /[\u0000-\u001f\u007f]/.test(folder) ||
      /^\/|\/$/.test(folder) ||
      folder.split('/').some((part) => part === '.' || part === '..')
    if (isInvalid)
      throw createValidationError(
        'folder_descriptions',
        `"${folder.slice(0, 100)}" must be the path of a folder within the source`,
        'Use the start of document names, such as policies/leave, without a slash at either end.',
      )
  }
}
