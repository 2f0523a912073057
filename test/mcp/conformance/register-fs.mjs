/** Lets @modelcontextprotocol/conformance 0.1.16 load in Node 20, whose fs has no globSync; the server suite does not call it. */
import { register } from 'node:module'

const source = `
export const resolve = (specifier, context, next) =>
  specifier === 'fs' && context.parentURL?.includes('/conformance/dist/') ? { url: 'cadre:fs', shortCircuit: true } : next(specifier, context)
export const load = (url, context, next) =>
  url === 'cadre:fs'
    ? { format: 'module', source: "export * from 'node:fs'; export const globSync = () => []", shortCircuit: true }
    : next(url, context)
`
if (!('globSync' in (await import('node:fs')))) register(`data:text/javascript,${encodeURIComponent(source)}`)
