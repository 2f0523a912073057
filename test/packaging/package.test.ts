/** What npm installs: dist/ contains everything except the external packages, and the shrinkwrap pins those. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EXTERNAL, EXTERNAL_BINARIES } from '../../scripts/external.ts'
import { createShrinkwrap, type Lock } from '../../scripts/shrinkwrap.ts'

const test = suite('package')
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock

/** Names of the packages that a file of the bundle imports. */
function listPackages(file: string): string[] {
  const name = '((?:@[\\w.-]+/)?[a-z][\\w.-]*)[^"]*'
  const pattern = new RegExp(`\\bimport(?:[\\w*{}\\s,$]+from)?\\s*"${name}"|\\bimport\\("${name}"\\)`, 'g')
  const names = [...readFileSync(file, 'utf8').matchAll(pattern)].map(([, plain, dynamic]) => plain ?? dynamic ?? '')
  return names.filter((imported) => imported !== 'node' && !isBuiltin(imported))
}

test('the bundle loads only packages that are installed with it', () => {
  const files = readdirSync(join(ROOT, 'dist'), { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.js') && !/^(keytar|swagger-ui)\b/.test(file),
  )
  const loaded = new Set(files.flatMap((file) => listPackages(join(ROOT, 'dist', file))))
  assert.equal(
    [...loaded].filter((name) => !EXTERNAL.includes(name)),
    [],
  )
  for (const name of EXTERNAL) assert.ok(loaded.has(name) || name === 'apache-arrow', `${name} is installed but not used`)
})

test('the files that bundled packages read are in dist', () => {
  const { platform, arch } = process
  for (const file of [
    `onnxruntime/${platform}/${arch}/onnxruntime_binding.node`,
    `keytar/prebuilds/${platform}-${arch}`,
    'keytar/lib/keytar.js',
  ])
    assert.ok(existsSync(join(ROOT, 'dist', file)), file)
  for (const file of ['swagger-ui/index.css', 'swagger-ui/logo.svg', 'LICENSES.txt']) assert.ok(existsSync(join(ROOT, 'dist', file)), file)
})

test('every platform for which LanceDB has a binary gets it', () => {
  const { optionalDependencies } = JSON.parse(readFileSync(join(ROOT, 'node_modules/@lancedb/lancedb/package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>
  }
  const binaries = Object.keys(optionalDependencies).filter((name) => name.startsWith('@lancedb/'))
  assert.equal(EXTERNAL_BINARIES, binaries.sort())
})

test('the shrinkwrap has exact versions of the external packages and all that they need, for every platform, and nothing else', () => {
  const { packages } = createShrinkwrap(lock, { name: 'cadre', version: '1.0.0' }, EXTERNAL, EXTERNAL_BINARIES)
  const { '': root, ...others } = packages
  assert.equal(Object.keys(root?.dependencies ?? {}).sort(), [...EXTERNAL].sort())
  assert.equal(Object.keys(root?.optionalDependencies ?? {}), EXTERNAL_BINARIES)
  for (const version of Object.values({ ...root?.dependencies, ...root?.optionalDependencies })) assert.match(version, /^\d+\.\d+\.\d+$/)
  const names = Object.keys(others)
  for (const name of ['@lancedb/lancedb-linux-x64-gnu', '@lancedb/lancedb-darwin-arm64', '@libsql/linux-arm64-gnu'])
    assert.ok(names.includes(`node_modules/${name}`), name)
  for (const [path, { version, integrity, hasInstallScript, dev }] of Object.entries(others)) {
    assert.equal([typeof version, typeof integrity], ['string', 'string'], path)
    assert.equal([hasInstallScript, dev], [undefined, undefined], path)
  }
  for (const name of ['fastify', 'ink', 'esbuild', 'typescript', 'keytar', 'onnxruntime-node', 'openai', '@huggingface/transformers'])
    assert.not(names.includes(`node_modules/${name}`))
  assert.not.match(JSON.stringify(packages), /"resolved"/)
  // Otherwise npm does not pack it.
  assert.ok(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).files.includes('npm-shrinkwrap.json'))
})

test('the shrinkwrap follows nested dependencies as Node does', () => {
  const nested: Lock = {
    lockfileVersion: 3,
    packages: {
      'node_modules/a': { version: '1.0.0', dependencies: { b: '^2' }, optionalDependencies: { c: '1' } },
      'node_modules/a/node_modules/b': { version: '2.0.0', dependencies: { c: '1', d: '1' }, dev: true },
      'node_modules/b': { version: '1.0.0' },
      'node_modules/c': { version: '1.0.0', peerDependencies: { e: '*' }, peerDependenciesMeta: { e: { optional: true } } },
      'node_modules/d': { version: '1.0.0' },
      'node_modules/e': { version: '1.0.0' },
    },
  }
  const { packages } = createShrinkwrap(nested, {}, ['a'])
  assert.equal(Object.keys(packages), ['', 'node_modules/a', 'node_modules/a/node_modules/b', 'node_modules/c', 'node_modules/d'])
  assert.is(packages['node_modules/a/node_modules/b']?.dev, undefined)
  assert.throws(() => createShrinkwrap({ ...nested, packages: {} }, {}, ['a']), 'package-lock.json has no node_modules/a')
})

test.run()
