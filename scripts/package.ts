/**
 * Prepares the package for npm pack, and restores the working tree afterwards. The packed package.json has no scripts, which npm
 * would warn about, and only the dependencies that are not bundled. npm-shrinkwrap.json pins them and everything below them.
 */
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { EXTERNAL, EXTERNAL_BINARIES, ROOT } from './external.ts'
import { createShrinkwrap, type Lock } from './shrinkwrap.ts'

const manifest = `${ROOT}package.json`
const backup = `${ROOT}node_modules/.cache/cadre-package.json`
const shrinkwrap = `${ROOT}npm-shrinkwrap.json`
const PUBLISHED = ['name', 'version', 'description', 'license', 'type', 'engines', 'bin', 'files', 'oclif']

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const writeJson = (file: string, value: object) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

function restore(): void {
  if (existsSync(backup)) renameSync(backup, manifest)
  rmSync(shrinkwrap, { force: true })
}

/** An earlier npm pack may have been interrupted. */
restore()
if (process.argv[2] === 'prepare') {
  const source = readJson(manifest)
  const fields = Object.fromEntries(PUBLISHED.map((name) => [name, source[name]]))
  const lock = createShrinkwrap(readJson(`${ROOT}package-lock.json`) as Lock, fields, EXTERNAL, EXTERNAL_BINARIES)
  copyFileSync(manifest, backup)
  const { dependencies, optionalDependencies } = lock.packages[''] ?? {}
  writeJson(manifest, { ...fields, dependencies, optionalDependencies })
  writeJson(shrinkwrap, lock)
}
