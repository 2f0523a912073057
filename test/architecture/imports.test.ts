import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { code, findImporters, findViolations, getText, type Import, imports, listFiles, ROOT } from './source-tree.ts'

/** A family may import those before it, never those after it. */
const ORDER = [
  'models',
  'prompt-templates',
  'knowledge',
  'rag-tools',
  'retrieval-tools',
  'api-tools',
  'mcp-servers',
  'mcp-tools',
  'agents',
  'memories',
  'conversations',
  'evaluations',
]
/** Families that only listen to events; no other family imports them. */
const LISTENERS = ['usage', 'analytics', 'webhooks']
const FAMILIES = [...ORDER, ...LISTENERS, 'openai', 'tokens', 'system', 'as-code', 'mcp-endpoint']
/** Files that other families may import. */
const PUBLIC_FILES: Record<string, readonly string[]> = {
  models: ['service.ts', 'chat-model.ts', 'resolve-follow-up.ts', 'token-estimate.ts', 'untrusted-text.ts'],
  agents: ['service.ts', 'toolset.ts'],
  memories: ['service.ts', 'store.ts', 'memory-tools.ts', 'format-memories.ts'],
  conversations: ['service.ts', 'completion-service.ts', 'agent-loop/ask-once.ts', 'agent-loop/turn-context.ts', 'reply/citations.ts'],
  knowledge: ['service.ts', 'tool-settings.ts', 'document-lookup.ts', 'sync/embedding-ledger.ts'],
}
/** Files of a family that the layers below may import: remote embedding models use the endpoints and errors of chat models. */
const PROVIDER_FILES = ['endpoints.ts', 'provider-error.ts', 'remote-model.ts'].map((file) => `daemon/models/providers/${file}`)
/** Files of src that the daemon may import. */
const SHARED = [
  'src/contract/',
  'src/sse.ts',
  'src/config.ts',
  'src/daemon-proof.ts',
  'src/deadline.ts',
  'src/storage-settings.ts',
  'src/version.ts',
  'src/keychain.ts',
  'src/package-folder.ts',
  'src/webhook-signature.ts',
  'src/segment-text.ts',
  'src/files/',
  'src/backup/',
]

/** Imports allowed between the folders below a path. Folders that are not listed may import those of `default`. */
const LAYERS: Record<string, Record<string, readonly string[]>> = {
  'src/cli': {
    terminal: [],
    completion: [],
    input: ['terminal'],
    oclif: ['terminal'],
    resources: ['terminal', 'input', 'oclif', 'evaluations'],
    html: ['terminal', 'input'],
    conversations: ['terminal', 'html', 'resources', 'ask'],
    doctor: ['terminal', 'input', 'knowledge'],
    quickstart: ['terminal', 'input', 'resources', 'ask', 'knowledge', 'models'],
    default: ['terminal', 'input', 'html', 'resources'],
  },
  'src/tui': {
    input: [],
    state: ['input'],
    render: ['input', 'state'],
    session: ['input', 'state'],
    commands: ['input', 'render', 'session', 'state'],
  },
  daemon: {
    async: [],
    process: [],
    language: [],
    workers: ['async', 'logging'],
    store: ['workers'],
    secrets: ['process'],
    logging: ['secrets'],
    telemetry: ['logging'],
    outbound: ['secrets'],
    validation: ['async'],
    cluster: ['store'],
    tables: ['language'],
    core: ['store', 'tables'],
    crud: ['core', 'http', 'store'],
    inference: ['workers'],
    embedding: ['inference', 'language', 'outbound', 'telemetry', 'workers'],
    http: ['cluster', 'core', 'secrets', 'store', 'telemetry', 'validation'],
  },
}

const test = suite('imports')

test('the scan finds files and imports', () => {
  assert.ok(listFiles('daemon').length > 60 && listFiles('src/contract').length > 15)
  assert.ok(findViolations(listFiles('daemon'), ({ target }) => target.startsWith('src/contract/')).length > 50)
})

test('src, commands and bin do not import the daemon', () => {
  const client = [...listFiles('src'), ...listFiles('commands'), ...listFiles('bin')]
  assert.equal(
    findViolations(client, ({ target }) => target.startsWith('daemon/') || target.startsWith('../daemon')),
    [],
  )
})

test('src and commands do not import server packages', () => {
  assert.equal(
    findViolations([...listFiles('src'), ...listFiles('commands')], ({ target }) => /^(fastify|@fastify\/|@lancedb\/|libsql)/.test(target)),
    [],
  )
})

test('the daemon imports only the shared files of src', () => {
  assert.equal(
    findViolations(listFiles('daemon'), ({ target }) => target.startsWith('src/') && !SHARED.some((shared) => target.startsWith(shared))),
    [],
  )
  assert.equal(
    findViolations(listFiles('daemon'), ({ target }) => /^(commands|test|bench|attack|bin)\//.test(target)),
    [],
  )
})

test('the contract imports only itself and typebox', () => {
  assert.equal(
    findViolations(listFiles('src/contract'), ({ target }) => !target.startsWith('src/contract/') && target !== 'typebox'),
    [],
  )
})

test('each storage engine is opened in one place', () => {
  assert.equal(findImporters('@lancedb/lancedb'), ['daemon/store/lance.ts'])
  assert.equal(findImporters('libsql'), ['daemon/process/lock.ts', 'daemon/store/database.ts', 'daemon/knowledge/tables/table-store.ts'])
  assert.equal(findImporters('keytar'), [])
})

for (const [parent, rules] of Object.entries(LAYERS)) {
  test(`folders of ${parent} import only what their layer allows`, () => {
    const getFolder = (file: string) => (file.startsWith(`${parent}/`) ? file.slice(parent.length + 1).split('/') : []).slice(0, -1)[0]
    assert.equal(
      findViolations(listFiles(parent), ({ target }, file) => {
        if (PROVIDER_FILES.includes(target)) return false
        const [from, to] = [getFolder(file), getFolder(target)]
        const allowed = from === undefined ? undefined : (rules[from] ?? rules.default)
        return allowed !== undefined && to !== undefined && to !== from && !allowed.includes(to)
      }),
      [],
    )
  })
}

test('in a family, routes import the service and the service imports the store, never the reverse', () => {
  const level = (file: string) => ['store.ts', 'service.ts', 'routes.ts'].indexOf(posix.basename(file))
  for (const family of FAMILIES) {
    assert.equal(
      findViolations(
        listFiles(`daemon/${family}`),
        ({ target }, file) => target.startsWith(`daemon/${family}/`) && level(target) > level(file) && level(file) >= 0,
      ),
      [],
    )
    assert.equal(
      findViolations(
        listFiles(`daemon/${family}`).filter((file) => !file.endsWith('/routes.ts')),
        ({ target, typeOnly }, file) => {
          // create-<family>.ts builds the family and returns the bindings of its routes.
          if (/\/create-[\w-]+\.ts$/.test(file))
            return target.startsWith('daemon/http/') && !(typeOnly && target === 'daemon/http/binding.ts')
          return target.startsWith('daemon/http/') || target === 'fastify' || /^daemon\/.*\/routes\.ts$/.test(target)
        },
      ),
      [],
    )
  }
})

test('only app.ts imports create-<family>.ts', () => {
  const others = code.filter((file) => /^(src|commands|daemon|bin)\//.test(file) && file !== 'daemon/app.ts')
  assert.equal(
    findViolations(others, ({ target }) => FAMILIES.some((family) => target === `daemon/${family}/create-${family}.ts`)),
    [],
  )
})

test('routes contain no logic: they import the contract, the service and the binding', () => {
  const allowed = /^(src\/contract\/|daemon\/http\/binding\.ts|daemon\/crud\/routes\.ts)/
  for (const family of FAMILIES)
    assert.equal(
      findViolations(
        listFiles(`daemon/${family}`).filter((file) => file.endsWith('/routes.ts')),
        ({ target, typeOnly }) => !allowed.test(target) && !(typeOnly && target.startsWith(`daemon/${family}/`)),
      ),
      [],
    )
})

test('a family imports only public files of families before it', () => {
  for (const family of FAMILIES) {
    assert.equal(
      findViolations(listFiles(`daemon/${family}`), ({ target }) => {
        const [, other = '', ...rest] = target.split('/')
        if (!target.startsWith('daemon/') || other === family || !FAMILIES.includes(other)) return false
        const isPublic = (PUBLIC_FILES[other] ?? ['service.ts']).includes(rest.join('/'))
        // Listeners, openai, tokens, system and as-code come after all families of the order.
        const isBefore = ORDER.includes(other) && (!ORDER.includes(family) || ORDER.indexOf(other) < ORDER.indexOf(family))
        return !isPublic || !isBefore
      }),
      [],
    )
  }
})

test('only app.ts imports usage, analytics and webhooks', () => {
  for (const listener of LISTENERS) {
    const others = listFiles('daemon').filter((file) => file !== 'daemon/app.ts' && !file.startsWith(`daemon/${listener}/`))
    assert.equal(
      findViolations(others, ({ target }) => target.startsWith(`daemon/${listener}/`)),
      [],
    )
  }
})

test('families do not import fastify, and only stores contain SQL', () => {
  const layers = [...FAMILIES, 'crud', 'store'].flatMap((folder) => listFiles(`daemon/${folder}`))
  assert.equal(
    findViolations(layers, ({ target }) => /^(fastify$|@fastify\/)/.test(target)),
    [],
  )
  const services = layers.filter((file) => !/\/([\w-]+-)?store\.ts$|^daemon\/store\//.test(file))
  const sql = services.filter((file) => /\b(SELECT .+ FROM|INSERT INTO|UPDATE \w+ SET|DELETE FROM) /.test(getText(file)))
  assert.equal(sql, [])
})

test('the layers below the families do not import them', () => {
  const below = Object.keys(LAYERS.daemon ?? {}).flatMap((folder) => listFiles(`daemon/${folder}`))
  assert.equal(
    findViolations(
      below,
      ({ target }) => FAMILIES.some((family) => target.startsWith(`daemon/${family}/`)) && !PROVIDER_FILES.includes(target),
    ),
    [],
  )
})

test('there are no import cycles', () => {
  const state = new Map<string, 'open' | 'done'>()
  const cycles: string[] = []
  const visit = (file: string, path: string[]): void => {
    if (state.get(file) === 'done') return
    if (state.get(file) === 'open') return void cycles.push([...path.slice(path.indexOf(file)), file].join(' → '))
    state.set(file, 'open')
    for (const { target } of imports.get(file) ?? []) if (imports.has(target)) visit(target, [...path, file])
    state.set(file, 'done')
  }
  for (const file of code) visit(file, [])
  assert.equal(cycles, [])
})

test('only the configuration reads the environment', () => {
  // Colors and DEBUG are needed before the configuration is loaded. The daemon removes its token so that no child inherits it.
  const allowed = new Set(['src/config.ts', 'src/cli/terminal/color.ts', 'src/cli/oclif/main.ts', 'daemon/main.ts'])
  const readers = [...listFiles('src'), ...listFiles('commands'), ...listFiles('daemon')].filter((file) =>
    /process\.env/.test(getText(file).replaceAll(/environment[^=\n]*= process\.env/g, '')),
  )
  assert.equal(
    readers.filter((file) => !allowed.has(file)),
    [],
  )
})

test('every imported package is a dependency, and the product needs no development dependency', () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const getPackageName = (target: string) => /^(@[^/]+\/)?[^/]+/.exec(target)?.[0] ?? target
  const isPackage = ({ target }: Import) => !/^(node:|\.|(src|daemon|commands|dist|test|bench|attack|scripts|training)\/)/.test(target)
  const shipped = { ...dependencies, ...optionalDependencies }
  const product = [...listFiles('src'), ...listFiles('commands'), ...listFiles('daemon')]
  assert.equal(
    findViolations(product, (found) => isPackage(found) && shipped[getPackageName(found.target)] === undefined),
    [],
  )
  const installed = { ...shipped, ...devDependencies }
  assert.equal(
    findViolations(
      [...listFiles('test'), ...listFiles('scripts'), ...listFiles('training')],
      (found) => isPackage(found) && installed[getPackageName(found.target)] === undefined,
    ),
    [],
  )
})

test('imports name existing files', () => {
  const missing = findViolations(code, ({ target }) => /^(src|daemon|commands|test)\//.test(target) && !existsSync(join(ROOT, target)))
  assert.equal(missing, [])
})

test.run()
