/** Finds the code of a worker thread: JavaScript in the build, TypeScript in a source checkout. */
import { findPackageFolder } from '../../src/package-folder.ts'

/** TypeScript needs tsx in each thread, because Node 20 does not pass loaders on. */
export function getWorkerUrl(built: string, source: URL): URL {
  if (!import.meta.url.endsWith('.ts')) return new URL(built, findPackageFolder())
  const tsx = JSON.stringify(import.meta.resolve('tsx/esm/api'))
  const worker = JSON.stringify(source.href)
  return new URL(`data:text/javascript,${encodeURIComponent(`import { register } from ${tsx}; register(); await import(${worker})`)}`)
}
