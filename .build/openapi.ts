/** Writes docs/openapi.json from the contract. */
import { writeFileSync } from 'node:fs'
import { openapiDocument } from '../src/contract/openapi.ts'
import { version } from '../src/version.ts'

writeFileSync(new URL('../docs/openapi.json', import.meta.url), `${JSON.stringify(openapiDocument(version), null, 2)}\n`)
