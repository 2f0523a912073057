/** Generates docs/openapi.json and docs/roles.md from the contract. */
import { writeFileSync } from 'node:fs'
import { createOpenapiDocument } from '../src/contract/openapi.ts'
import { version } from '../src/version.ts'
import { createRolesDocument } from './roles.ts'

const write = (name: string, text: string) => writeFileSync(new URL(`../docs/${name}`, import.meta.url), text)

write('openapi.json', `${JSON.stringify(createOpenapiDocument(version), null, 2)}\n`)
write('roles.md', createRolesDocument())
