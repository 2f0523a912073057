import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const LONGEST = 300
/** A family may use those before it, never those after it. */
const ORDER = [
  'models',
  'prompt-templates',
  'knowledge',
  'rag-tools',
  'retrieval-tools',
  'api-tools',
  'agents',
  'conversations',
  'evaluations',
]
/** They listen; nobody asks them. */
const LISTENERS = ['usage', 'analytics', 'webhooks']
const FAMILIES = [...ORDER, ...LISTENERS, 'tokens', 'system', 'as-code']
/** What a family shows to others. */
const DOORS: Record<string, readonly string[]> = {
  models: ['service.ts', 'chat-model.ts', 'token-estimate.ts'],
  agents: ['service.ts', 'toolset.ts'],
  conversations: ['service.ts', 'agent-loop/ask-once.ts', 'reply/citations.ts'],
  knowledge: ['service.ts', 'tool-settings.ts', 'search-tool.ts'],
}
/** What of src the daemon may know. */
const SHARED = ['src/contract/', 'src/sse.ts', 'src/config.ts', 'src/version.ts', 'src/keychain.ts', 'src/webhook-signature.ts']

interface Import {
  /** A file of this repository, or a package. */
  target: string
  typeOnly: boolean
}

const test = suite('architecture')
const files = ['src', 'commands', 'daemon', 'bin', 'bench', 'test', '.build'].flatMap((place) =>
  existsSync(join(ROOT, place))
    ? readdirSync(join(ROOT, place), { recursive: true, encoding: 'utf8' }).map((file) => posix.join(place, file.replaceAll('\\', '/')))
    : [],
)
const code = files.filter((file) => /\.(ts|tsx|js)$/.test(file))
const text = new Map(code.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
const imports = new Map(code.map((file) => [file, importsOf(file)]))

function importsOf(file: string): Import[] {
  const source = (text.get(file) as string).replaceAll(/`[^`]*`/g, '``')
  const statements = [...source.matchAll(/^(?:import|export)\s+(type\s)?(?:[^'"`;]*?\sfrom\s+)?'([^']+)'/gm)].map(([, type, target]) => ({
    target: target as string,
    typeOnly: type !== undefined,
  }))
  const calls = [...source.matchAll(/(typeof\s+)?\bimport\(\s*'([^']+)'\s*\)/g)].map(([, type, target]) => ({
    target: target as string,
    typeOnly: type !== undefined,
  }))
  return [...statements, ...calls].map(({ target, typeOnly }) => ({
    typeOnly,
    target: target.startsWith('.') ? posix.normalize(posix.join(posix.dirname(file), target)) : target,
  }))
}

const inside = (place: string) => code.filter((file) => file.startsWith(`${place}/`))
const importers = (packageName: string) =>
  code.filter(
    (file) =>
      !file.startsWith('test/') &&
      !file.startsWith('bench/') &&
      imports.get(file)?.some(({ target }) => target === packageName || target.startsWith(`${packageName}/`)),
  )

/** Every import of some files that a rule forbids, as sentences. */
function breaches(from: readonly string[], forbidden: (found: Import, file: string) => boolean): string[] {
  return from.flatMap((file) =>
    (imports.get(file) ?? []).filter((found) => forbidden(found, file)).map(({ target }) => `${file} imports ${target}`),
  )
}

test('there is something to look at', () => {
  assert.ok(inside('daemon').length > 60 && inside('src/contract').length > 15)
  assert.ok(breaches(inside('daemon'), ({ target }) => target.startsWith('src/contract/')).length > 50, 'imports are not found')
})

test('the client half never imports the daemon', () => {
  assert.equal(
    breaches(
      [...inside('src'), ...inside('commands'), ...inside('bin')],
      ({ target }) => target.startsWith('daemon/') || target.startsWith('../daemon'),
    ),
    [],
  )
})

test('src and commands know neither fastify nor lancedb', () => {
  assert.equal(
    breaches([...inside('src'), ...inside('commands')], ({ target }) => /^(fastify|@fastify\/|@lancedb\/|libsql)/.test(target)),
    [],
  )
})

test('of src the daemon knows the contract, the event format, the configuration, the version, the keychain and the signature of webhooks', () => {
  assert.equal(
    breaches(inside('daemon'), ({ target }) => target.startsWith('src/') && !SHARED.some((shared) => target.startsWith(shared))),
    [],
  )
  assert.equal(
    breaches(inside('daemon'), ({ target }) => /^(commands|test|bench|bin)\//.test(target)),
    [],
  )
})

test('the contract imports itself and typebox, and nothing else', () => {
  assert.equal(
    breaches(inside('src/contract'), ({ target }) => !target.startsWith('src/contract/') && target !== 'typebox'),
    [],
  )
})

test('each store is opened in one place', () => {
  assert.equal(importers('@lancedb/lancedb'), ['daemon/store/lance.ts'])
  assert.equal(importers('libsql'), ['daemon/process/lock.ts', 'daemon/store/database.ts'])
  assert.equal(importers('keytar'), [])
})

test('in a family, routes know the service, the service the store, and never the other way round', () => {
  const level = (file: string) => ['store.ts', 'service.ts', 'routes.ts'].indexOf(posix.basename(file))
  for (const family of FAMILIES) {
    assert.equal(
      breaches(
        inside(`daemon/${family}`),
        ({ target }, file) => target.startsWith(`daemon/${family}/`) && level(target) > level(file) && level(file) >= 0,
      ),
      [],
    )
    assert.equal(
      breaches(
        inside(`daemon/${family}`).filter((file) => !file.endsWith('/routes.ts')),
        ({ target, typeOnly }, file) => {
          // create-<family>.ts builds the family and returns the bindings of its routes.
          if (file === `daemon/${family}/create-${family}.ts`)
            return target.startsWith('daemon/http/') && !(typeOnly && target === 'daemon/http/binding.ts')
          return (
            target.startsWith('daemon/http/') ||
            target === 'fastify' ||
            target === `daemon/${family}/routes.ts` ||
            target === 'daemon/crud/routes.ts'
          )
        },
      ),
      [],
    )
  }
})

test('only app.ts imports a create-<family>.ts', () => {
  const outside = code.filter((file) => /^(src|commands|daemon|bin)\//.test(file) && file !== 'daemon/app.ts')
  assert.equal(
    breaches(outside, ({ target }) => FAMILIES.some((family) => target === `daemon/${family}/create-${family}.ts`)),
    [],
  )
})

test('routes hold no logic: they import the contract, the service and the binding', () => {
  const allowed = /^(src\/contract\/|daemon\/http\/binding\.ts|daemon\/crud\/routes\.ts)/
  for (const family of FAMILIES)
    assert.equal(
      breaches(
        inside(`daemon/${family}`).filter((file) => file.endsWith('/routes.ts')),
        ({ target, typeOnly }) => !allowed.test(target) && !(typeOnly && target.startsWith(`daemon/${family}/`)),
      ),
      [],
    )
})

test('across families only through the service, and only leftward', () => {
  for (const family of FAMILIES) {
    assert.equal(
      breaches(inside(`daemon/${family}`), ({ target }) => {
        const [, other = '', ...rest] = target.split('/')
        if (!target.startsWith('daemon/') || other === family || !FAMILIES.includes(other)) return false
        const door = (DOORS[other] ?? ['service.ts']).includes(rest.join('/'))
        // The system looks after settings, which name a model; listeners and tokens stand outside the order.
        const leftward = ORDER.includes(other) && (!ORDER.includes(family) || ORDER.indexOf(other) < ORDER.indexOf(family))
        return !door || !leftward
      }),
      [],
    )
  }
})

test('nobody but app.ts imports usage, analytics and webhooks', () => {
  const outside = (listener: string) =>
    inside('daemon').filter((file) => file !== 'daemon/app.ts' && !file.startsWith(`daemon/${listener}/`))
  for (const listener of LISTENERS)
    assert.equal(
      breaches(outside(listener), ({ target }) => target.startsWith(`daemon/${listener}/`)),
      [],
    )
})

test('services and stores know neither fastify nor SQL drivers', () => {
  const rooms = inside('daemon').filter(
    (file) =>
      FAMILIES.some((family) => file.startsWith(`daemon/${family}/`)) ||
      file.startsWith('daemon/crud/') ||
      file.startsWith('daemon/store/'),
  )
  assert.equal(
    breaches(rooms, ({ target }) => /^(fastify$|@fastify\/)/.test(target)),
    [],
  )
  const services = rooms.filter((file) => !/\/([\w-]+-)?store\.ts$|^daemon\/store\//.test(file))
  const sql = services.filter((file) => /\b(SELECT .+ FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM) /.test(text.get(file) ?? ''))
  assert.equal(sql, [])
})

test('the rooms below the families know none of them', () => {
  const below = ['crud', 'embedding', 'http', 'outbound', 'providers', 'secrets', 'store'].flatMap((room) => inside(`daemon/${room}`))
  assert.equal(
    breaches(below, ({ target }) => FAMILIES.some((family) => target.startsWith(`daemon/${family}/`))),
    [],
  )
})

test('the door does not know what families share', () => {
  assert.equal(
    breaches(inside('daemon/http'), ({ target }) => target.startsWith('daemon/crud/')),
    [],
  )
})

test('no import goes round in a circle', () => {
  const state = new Map<string, 'open' | 'done'>()
  const circles: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') return void circles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    state.set(file, 'open')
    for (const { target } of imports.get(file) ?? []) if (imports.has(target)) visit(target, [...path, file])
    state.set(file, 'done')
  }
  for (const file of code) visit(file, [])
  assert.equal(circles, [])
})

test('no file only passes on what others export', () => {
  const barrels = code.filter((file) => {
    const statements = (text.get(file) ?? '')
      .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      .split('\n')
      .filter((line) => line.trim() !== '')
    return statements.length > 0 && statements.every((line) => /^export\b.*\bfrom '\./.test(line))
  })
  assert.equal(barrels, [])
  assert.equal(
    code.filter((file) => /^(src|daemon|commands)\//.test(file) && /^export \* from/m.test(text.get(file) ?? '')),
    [],
  )
})

test('nothing is called utils, helpers, common or misc', () => {
  assert.equal(
    files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.|$)/i.test(file)),
    [],
  )
})

test('names of files are in kebab case', () => {
  assert.equal(
    code.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.(ts|tsx|js)$/.test(posix.basename(file))),
    [],
  )
})

test(`no file is longer than ${LONGEST} lines`, () => {
  const long = code.map((file) => ({ file, lines: (text.get(file) ?? '').split('\n').length })).filter(({ lines }) => lines > LONGEST)
  assert.equal(long, [])
})

test('every file says in its first line what lives in it', () => {
  const silent = code.filter((file) => !/\.test\.tsx?$/.test(file) && !/^(#!.*\n)?\/\*\*? [A-Z"'`.].*\S/.test(text.get(file) ?? ''))
  assert.equal(silent, [])
})

test('only the configuration reads the environment', () => {
  // What is asked before the configuration is worth loading: colours and DEBUG. The daemon takes its token out, so that no child inherits it.
  const allowed = new Set(['src/config.ts', 'src/cli/terminal/color.ts', 'src/cli/oclif/main.ts', 'daemon/main.ts'])
  const readers = [...inside('src'), ...inside('commands'), ...inside('daemon')].filter((file) =>
    /process\.env/.test((text.get(file) ?? '').replaceAll(/environment[^=\n]*= process\.env/g, '')),
  )
  assert.equal(
    readers.filter((file) => !allowed.has(file)),
    [],
  )
})

test('what the code imports is a dependency, and what ships is not a development one', () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<
    string,
    Record<string, string>
  >
  const nameOf = (target: string) =>
    target
      .split('/')
      .slice(0, target.startsWith('@') ? 2 : 1)
      .join('/')
  const shipped = { ...dependencies, ...optionalDependencies }
  const outside = (found: Import) =>
    !found.target.startsWith('node:') &&
    !imports.has(found.target) &&
    !/^(\.|src\/|daemon\/|commands\/|dist\/|test\/|bench\/|\.build\/)/.test(found.target)
  assert.equal(
    breaches(
      [...inside('src'), ...inside('commands'), ...inside('daemon')],
      (found) => outside(found) && shipped[nameOf(found.target)] === undefined,
    ),
    [],
  )
  assert.equal(
    breaches(
      [...inside('test'), ...inside('.build')],
      (found) => outside(found) && { ...shipped, ...devDependencies }[nameOf(found.target)] === undefined,
    ),
    [],
  )
})

test('imports name files that exist', () => {
  const missing = breaches(code, ({ target }) => /^(src|daemon|commands|test)\//.test(target) && !existsSync(join(ROOT, target)))
  assert.equal(missing, [])
  assert.ok(relative(ROOT, dirname(fileURLToPath(import.meta.url))) === 'test')
})

test.run()
