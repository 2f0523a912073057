/**
 * Generates a client with each generator. Arguments: the OpenAPI document, the folder for the clients.
 * Both generators need the JavaScript interface of TypeScript 5, which TypeScript 7 does not have.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { register } from 'node:module'
import { Socket } from 'node:net'
import { join } from 'node:path'

const typescript = new URL('typescript.mjs', import.meta.url)
const hooks = `export const resolve = (name, context, next) => next(name === 'typescript' ? '${typescript}' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
Socket.prototype.connect = () => {
  throw new Error('Generating a client must not use the network.')
}

const [path, folder] = process.argv.slice(2)
const readDocument = () => JSON.parse(readFileSync(path, 'utf8'))
const [{ default: generateTypes, astToString }, { createClient }] = await Promise.all([
  import('openapi-typescript'),
  import('@hey-api/openapi-ts'),
])
const types = await generateTypes(readDocument())
writeFileSync(join(folder, 'openapi-typescript.ts'), astToString(types))
await createClient({ input: readDocument(), output: join(folder, 'hey-api'), logs: { level: 'silent', file: false } })
