/** Creates npm-shrinkwrap.json: the part of package-lock.json that npm installs with the packed package. */

interface LockedPackage {
  version?: string
  dev?: boolean
  devOptional?: boolean
  optional?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  peerDependenciesMeta?: Record<string, { optional?: boolean }>
  [field: string]: unknown
}

export interface Lock {
  lockfileVersion: number
  packages: Record<string, LockedPackage>
  [field: string]: unknown
}

/** @param fields published fields of package.json; @param names, binaries the dependencies of the packed package */
export function createShrinkwrap(
  lock: Lock,
  fields: Record<string, unknown>,
  names: readonly string[],
  binaries: readonly string[] = [],
): Lock {
  const { name, version, license, engines, bin } = fields
  const listVersions = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, lock.packages[`node_modules/${name}`]?.version ?? '']))
  const [dependencies, optionalDependencies] = [listVersions(names), listVersions(binaries)]
  const packages: Lock['packages'] = { '': { name, version, license, engines, bin, dependencies, optionalDependencies } as LockedPackage }
  const pending = [...names, ...binaries].map((name) => `node_modules/${name}`)
  for (let path = pending.pop(); path !== undefined; path = pending.pop()) {
    const found = lock.packages[path]
    if (!found) throw new Error(`package-lock.json has no ${path}; run npm install`)
    if (packages[path]) continue
    const { dev: _, devOptional: __, ...entry } = found
    packages[path] = entry
    const { dependencies: required = {}, optionalDependencies = {}, peerDependencies = {}, peerDependenciesMeta = {} } = found
    const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta[peer]?.optional)
    for (const name of [...Object.keys(required), ...Object.keys(optionalDependencies), ...peers])
      pending.push(findLocked(lock, path, name))
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1))
  return { name, version, lockfileVersion: lock.lockfileVersion, requires: true, packages: Object.fromEntries(sorted) }
}

/** Finds a dependency as Node does: in the folder of the package, then in those above. */
function findLocked(lock: Lock, from: string, name: string): string {
  const nested = `${from}/node_modules/${name}`
  const end = from.lastIndexOf('/node_modules/')
  return lock.packages[nested] ? nested : end === -1 ? `node_modules/${name}` : findLocked(lock, from.slice(0, end), name)
}
