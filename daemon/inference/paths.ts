/** Path of the embedded models, for the source tree and the bundle. */
import { fileURLToPath } from 'node:url'
import { resolvePackageFolder } from '../../src/package-folder.ts'

export const getModelsDirectory = (): string => fileURLToPath(new URL('dist/models/', resolvePackageFolder()))
