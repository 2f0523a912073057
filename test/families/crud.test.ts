import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Family } from '../../src/contract/crud.ts'
import { FAMILIES } from '../../src/contract/routes.ts'
import { getFields } from '../../src/contract/schemas/fields.ts'
import { getSortableFields } from '../../src/contract/schemas/list-query.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { reportFailure } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { createSamples, type Sample } from '../harness/samples.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const MANY = 23
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const test = suite('CRUD')
let server: TestServer
const samples: Record<string, Sample> = {}
const made: Record<string, Json[]> = {}

test.before(
  reportFailure(async () => {
    server = await TestServer.start()
    Object.assign(samples, createSamples(new Resources(server)))
    for (const { name } of FAMILIES) {
      made[name] = []
      for (let index = 0; index < MANY; index++) made[name].push(await getSample(name).create(index))
    }
  }),
)
test.after(reportFailure(() => server.close()))

function getSample(name: string): Sample {
  const sample = samples[name]
  assert.ok(sample, `no sample of ${name}`)
  return sample as Sample
}

/** Lists all resources of a family that match a query. */
async function listAll({ path }: Family, query = ''): Promise<Json[]> {
  const all: Json[] = []
  for (let page = 1; ; page++) {
    const { body } = await server.get(`${path}?limit=100&page=${page}${query}`)
    all.push(...body.data)
    if (page >= body.pagination.pages) return all
  }
}

/** Compares values like SQLite: null, then numbers, then texts by bytes. */
function compareValues(a: unknown, b: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
  return Number(a) - Number(b)
}

const COLLATOR = new Intl.Collator('en', { numeric: true, sensitivity: 'base' })
const compareFields = (field: string, a: Json, b: Json): number =>
  field === 'name' ? COLLATOR.compare(a.name, b.name) : compareValues(a[field], b[field])

for (const family of FAMILIES) {
  const { name, path, prefix, noun } = family
  const each = (behaviour: string, work: () => Promise<void>) => test(`${name}: ${behaviour}`, work)
  const one = (index = 0) => getSample(name).create(index)
  const changed = (record: Json) => ({ ...record, ...getSample(name).change })
  const listed = Object.keys(getFields(family.item)).sort()
  const whole = Object.keys(getFields(family.resource)).sort()

  each('identifiers have a prefix and are sorted by time', async () => {
    const [first, second] = [await one(), await one()]
    assert.ok(first.id.startsWith(`${prefix}_`))
    assert.match(first.id.slice(prefix.length + 1), UUID7)
    assert.ok(first.id < second.id)
    assert.is(first.created_at, first.updated_at)
  })

  each('a created resource can be read with all fields', async () => {
    const { token: _, secret: __, ...created } = await one()
    const read = await server.get(`${path}/${created.id}`)
    assert.equal(read.data, created)
    assert.equal(Object.keys(read.data).sort(), whole)
    assert.match(String(read.headers.etag), /^".+"$/)
  })

  each('a list returns the fields of the item schema', async () => {
    const [first] = await expectData(server.get(`${path}?limit=1`))
    assert.equal(Object.keys(first).sort(), listed)
  })

  each('a list has 20 items per page, newest first, by default', async () => {
    const total = (await listAll(family)).length
    const first = (await server.get(path)).body
    assert.equal(first.pagination, { page: 1, limit: 20, total, pages: Math.ceil(total / 20) })
    assert.is(first.data.length, 20)
    const newest = [...first.data].map(({ created_at }: Json) => created_at)
    assert.equal(newest, [...newest].sort().reverse())
    const pages = [1, 2, 3].map(async (page) => (await server.get(`${path}?limit=7&page=${page}&sort=id&order=asc`)).data)
    const ids = (await Promise.all(pages)).flat().map(({ id }: Json) => id)
    assert.is(new Set(ids).size, 21)
    assert.equal(ids, [...ids].sort())
    const beyond = (await server.get(`${path}?page=1000`)).body
    assert.equal(beyond.data, [])
    assert.is(beyond.pagination.total, total)
  })

  each('page and limit outside their range are rejected', async () => {
    const wrong = {
      limit: ['0', '101', '-1', 'ten', '1.5', '', 'Infinity', '1e400', '-1e400'],
      page: ['0', '-1', 'x', '1e20', 'Infinity', '1e400', '-1e400'],
    }
    for (const [field, values] of Object.entries(wrong))
      for (const value of values) await expectError(server.get(`${path}?${field}=${value}`), 'VALIDATION_ERROR', { field })
    await expectData(server.get(`${path}?limit=100&page=1`))
  })

  /** All resources of the family. The tests of lists do not change them, but the daemon may change fields of its own. */
  const records = new Map<string, Json>()
  const readRecords = async () => {
    for (const { id } of await listAll(family)) records.set(id, await expectData(server.get(`${path}/${id}`)))
  }
  each('every resource of a list can be read', async () => {
    await readRecords()
    assert.ok(records.size >= MANY)
  })

  for (const field of getSortableFields(family.resource, family.computedFields)) {
    each(`a list can be sorted by ${field} in both directions`, async () => {
      if (family.serverFields?.includes(field)) await readRecords()
      for (const order of ['asc', 'desc']) {
        const ids = (await listAll(family, `&sort=${field}&order=${order}`)).map(({ id }) => id)
        assert.is(new Set(ids).size, records.size)
        const expected = [...records.values()]
          .sort((a, b) => (compareFields(field, a, b) || compareValues(a.id, b.id)) * (order === 'asc' ? 1 : -1))
          .map(({ id }) => id)
        assert.equal(ids, expected)
      }
    })

    if (field === 'limit') continue // a parameter of the page
    each(`a list can be filtered by ${field}`, async () => {
      const all = [...records.values()]
      const values = new Set(all.map((record) => record[field]).filter((value) => value !== null))
      for (const value of [...values].slice(0, 4)) {
        const found = await listAll(family, `&${field}=${encodeURIComponent(String(value))}`)
        const expected = all.filter((record) => record[field] === value).map(({ id }) => id)
        assert.equal(found.map(({ id }) => id).sort(), expected.sort(), `${field}=${value}`)
      }
    })
  }

  each('filters are combined with AND', async () => {
    const [first] = made[name] as Json[]
    const both = await listAll(family, `&id=${first.id}&created_at=${first.created_at}`)
    assert.equal(
      both.map(({ id }) => id),
      [first.id],
    )
    assert.equal(await listAll(family, `&id=${first.id}&created_at=2001-01-01`), [])
    const { pagination } = (await server.get(`${path}?id=nobody`)).body
    assert.equal(pagination, { page: 1, limit: 20, total: 0, pages: 0 })
  })

  each('an unknown filter, sort field or order is rejected with a suggestion', async () => {
    await expectError(server.get(`${path}?create_at=x`), 'VALIDATION_ERROR', { field: 'create_at', hint: /Did you mean "created_at"/ })
    await expectError(server.get(`${path}?nonsense=x`), 'VALIDATION_ERROR', { field: 'nonsense', hint: /Known fields are .*created_at/ })
    await expectError(server.get(`${path}?sort=updatedat`), 'VALIDATION_ERROR', { field: 'sort', hint: /Did you mean "updated_at"/ })
    await expectError(server.get(`${path}?sort=id;drop`), 'VALIDATION_ERROR', { field: 'sort' })
    await expectError(server.get(`${path}?order=down`), 'VALIDATION_ERROR', { field: 'order' })
    await expectError(server.get(`${path}?id=a&id=b`), 'VALIDATION_ERROR', { field: 'id' })
  })

  each('filter values are not interpreted as SQL', async () => {
    const total = (await listAll(family)).length
    for (const value of ["' OR 1=1 --", '" OR ""="', "'; DROP TABLE agents; --", '%', '_', '\\', '\u0000', '{"$ne":null}'])
      assert.equal(await listAll(family, `&id=${encodeURIComponent(value)}`), [], value)
    assert.is((await listAll(family)).length, total)
  })

  for (const method of ['PUT', 'PATCH'] as const) {
    each(`${method} changes only the given fields and returns the resource`, async () => {
      const { token: _, secret: __, ...before } = await one(1)
      const after = await expectData(server.call(method, `${path}/${before.id}`, getSample(name).change), 200)
      const { updated_at, ...rest } = changed(before)
      assert.ok(after.updated_at >= updated_at)
      const expected = { ...rest, ...('version' in before ? { version: before.version + 1 } : {}) }
      assert.equal({ ...after, updated_at: undefined }, { ...expected, updated_at: undefined })
      assert.equal(await expectData(server.get(`${path}/${before.id}`)), after)
    })
  }

  for (const method of ['PUT', 'PATCH'] as const) {
    each(`${method} without fields changes nothing, not even updated_at`, async () => {
      const before = await server.get(`${path}/${(await one(3)).id}`)
      const after = await server.call(method, `${path}/${before.data.id}`, {})
      assert.equal([after.status, after.data, after.headers.etag], [200, before.data, before.headers.etag])
      assert.equal(await expectData(server.get(`${path}/${before.data.id}`)), before.data)
      const seen = (etag: unknown) => ({ headers: { 'if-match': String(etag) } })
      await expectData(server.call(method, `${path}/${before.data.id}`, {}, seen(before.headers.etag)))
      await expectError(server.call(method, `${path}/${before.data.id}`, {}, seen('"other"')), 'PRECONDITION_FAILED')
      await expectError(server.call(method, `${path}/nobody`, {}), 'NOT_FOUND')
      await expectError(server.call(method, `${path}/${before.data.id}`), 'VALIDATION_ERROR')
    })
  }

  each('an update with unknown fields is rejected', async () => {
    const before = await expectData(server.get(`${path}/${(await one(2)).id}`))
    const wrong = await expectError(server.put(`${path}/${before.id}`, { ...getSample(name).change, nmae: 'x' }), 'VALIDATION_ERROR', {
      field: 'nmae',
    })
    assert.ok(wrong.hint)
    for (const body of [{ id: 'other' }, { created_at: '2001-01-01T00:00:00Z' }, [], 'text', 7, null, true])
      await expectError(server.put(`${path}/${before.id}`, body), 'VALIDATION_ERROR')
    assert.equal(await expectData(server.get(`${path}/${before.id}`)), before)
  })

  each('a create request without required fields is rejected', async () => {
    await expectError(server.post(path, {}), 'VALIDATION_ERROR')
    await expectError(server.post(path), 'VALIDATION_ERROR')
    for (const body of [[], 'text', 7, null, true, [{}]]) await expectError(server.post(path, body), 'VALIDATION_ERROR')
    const total = (await listAll(family)).length
    for (const required of (family.create as { required?: string[] }).required ?? []) {
      const { [required]: _, ...incomplete } = ((family.create as unknown as { examples: Json[] }).examples[0] ?? {}) as Json
      await expectError(server.post(path, incomplete), 'VALIDATION_ERROR')
    }
    assert.is((await listAll(family)).length, total)
  })

  each('an unknown identifier returns NOT_FOUND for every method', async () => {
    const unknownIds = [`${prefix}_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a`, 'x', '..%2f..%2fetc', '%00', "'%20OR%201=1", '💥']
    for (const id of unknownIds.map(encodeURI)) {
      const expected = { error: new RegExp(`no ${noun}`) }
      await expectError(server.get(`${path}/${id}`), 'NOT_FOUND', expected)
      await expectError(server.put(`${path}/${id}`, getSample(name).change), 'NOT_FOUND', expected)
      await expectError(server.patch(`${path}/${id}`, getSample(name).change), 'NOT_FOUND', expected)
      await expectError(server.delete(`${path}/${id}`), 'NOT_FOUND', expected)
    }
    await expectError(server.get(`${path}/${'x'.repeat(201)}`), 'VALIDATION_ERROR', { field: 'id' })
  })

  each('a deleted resource cannot be read or deleted again', async () => {
    const record = await one()
    const { message } = (await server.delete(`${path}/${record.id}`)).body
    assert.match(message, new RegExp(`^The ${noun} ".+" was deleted\\.$`))
    await expectError(server.get(`${path}/${record.id}`), 'NOT_FOUND')
    await expectError(server.delete(`${path}/${record.id}`), 'NOT_FOUND')
    assert.equal(await listAll(family, `&id=${record.id}`), [])
  })

  each('If-Match with an outdated ETag is rejected for updates and deletes', async () => {
    const { id } = await one()
    const { headers } = await server.get(`${path}/${id}`)
    const seen = { headers: { 'if-match': String(headers.etag) } }
    const first = await server.put(`${path}/${id}`, getSample(name).change, seen)
    assert.is(first.status, 200)
    assert.is.not(first.headers.etag, headers.etag)
    await expectError(server.put(`${path}/${id}`, getSample(name).change, seen), 'PRECONDITION_FAILED', { hint: /Read it again/ })
    await expectError(server.patch(`${path}/${id}`, getSample(name).change, seen), 'PRECONDITION_FAILED')
    await expectError(server.delete(`${path}/${id}`, seen), 'PRECONDITION_FAILED')
    assert.is((await server.put(`${path}/${id}`, getSample(name).change, { headers: { 'if-match': '*' } })).status, 200)
    const current = (await server.get(`${path}/${id}`)).headers.etag
    assert.is((await server.delete(`${path}/${id}`, { headers: { 'if-match': `"other", ${current}` } })).status, 200)
  })

  const { label } = createSamples({} as Resources)[name] ?? {}
  if (label !== undefined) {
    each(`any text can be stored as ${label}`, async () => {
      for (const text of [
        'Ünïcödé 名前',
        '👩‍👩‍👧‍👦 család',
        'RTL \u202e abc',
        "Robert'); DROP TABLE students;--",
        '{{x}} ${y} <b>',
        '  padded  ',
        'e\u0301',
        '\\"\\n\n\t',
        'a'.repeat(200),
      ]) {
        const { id } = await one()
        const after = await expectData(server.put(`${path}/${id}`, { [label]: text }))
        assert.is(after[label], text)
        assert.equal((await expectData(server.get(`${path}/${id}`)))[label], text)
        assert.equal(
          (await listAll(family, `&${label}=${encodeURIComponent(text)}`)).some((found) => found.id === id),
          true,
        )
      }
    })

    each(`text with NUL or lone surrogates is rejected for ${label}`, async () => {
      const { id } = await one()
      for (const text of ['zero \u0000 inside', '\u0000', 'half \ud83d pair', '\udc69'])
        await expectError(server.call('PUT', `${path}/${id}`, undefined, { raw: JSON.stringify({ [label]: text }) }), 'VALIDATION_ERROR', {
          field: label,
        })
    })
  }
}

test.run()
