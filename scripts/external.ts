/** The folder of the package, and the packages that are not bundled. */
import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The packages that npm installs with Cadre: native modules with a package per platform, and what they share types with. */
export const EXTERNAL = ['libsql', 'apache-arrow']

/** The binaries of LanceDB, of which npm installs one. Its JavaScript is bundled: its package has optional dependencies of 370 MB. */
export const EXTERNAL_BINARIES = [
  '@lancedb/lancedb-darwin-arm64',
  '@lancedb/lancedb-linux-arm64-gnu',
  '@lancedb/lancedb-linux-arm64-musl',
  '@lancedb/lancedb-linux-x64-gnu',
  '@lancedb/lancedb-linux-x64-musl',
  '@lancedb/lancedb-win32-arm64-msvc',
  '@lancedb/lancedb-win32-x64-msvc',
]
