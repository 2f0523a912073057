/** The folder of the package, and the packages that are not bundled. */
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The packages that npm installs with Cadre: native modules with a package per platform, and what they share types with. */
export const EXTERNAL = ['libsql', '@lancedb/lancedb', 'apache-arrow']
