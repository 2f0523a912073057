/** The version of this build. */
import { readFileSync } from 'node:fs'

declare const CADRE_VERSION: string | undefined

/** Bundles define CADRE_VERSION; the source reads package.json. */
export const version: string =
  typeof CADRE_VERSION === 'string'
    ? CADRE_VERSION
    : (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }).version
