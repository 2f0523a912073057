import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import type { Family } from '../../src/contract/crud.ts'
import { FAMILIES } from '../../src/contract/routes.ts'
import { getFields } from '../../src/contract/schemas/fields.ts'
import { getSortableFields } from '../../src/contract/schemas/list-query.ts'
import { expectData, expectError } from '../harness/expect.ts'
import { aloud } from '../harness/hooks.ts'
import { Resources } from '../harness/resources.ts'
import { createSamples, type Sample } from '../harness/samples.ts'
import { type Json, TestServer } from '../harness/test-server.ts'

const MANY = 23
const UUID7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const test = suite('every family')
let service: TestServer
const samples: Record<string, Sample> = {}
const made: Record<string, Json[]> = {}

test.before(
  aloud(async () => {
    service = await TestServer.start()
    Object.assign(samples, createSamples(new Resources(service)))
    for (const { name } of FAMILIES) {
      made[name] = []
      for (let index = 0; index < MANY; index++) made[name].push(await sampleOf(name).create(index))
    }
  }),
)
test.after(aloud(() => service.close()))

function sampleOf(name: string): Sample {
  const sample = samples[name]
  assert.ok(sample, `no sample of ${name}`)
  return sample as Sample
}

/** Everything the family lists under a query, page by page. */
async function everything({ path }: Family, query = ''): Promise<Json[]> {
  const all: Json[] = []
  for (let page = 1; ; page++) {
    const { body } = await service.get(`${path}?limit=100&page=${page}${query}`)
    all.push(...body.data)
    if (page >= body.pagination.pages) return all
  }
}

/** SQLite's order: nothing, then numbers, then text by bytes. */
function compared(a: unknown, b: unknown): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? -1 : 1
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(String(b)))
  return Number(a) - Number(b)
}

for (const family of FAMILIES) {
  const { name, path, prefix, noun } = family
  const each = (behaviour: string, work: () => Promise<void>) => test(`${name}: ${behaviour}`, work)
  const one = (index = 0) => sampleOf(name).create(index)
  const changed = (record: Json) => ({ ...record, ...sampleOf(name).change })
  const listed = Object.keys(getFields(family.item)).sort()
  const whole = Object.keys(getFields(family.resource)).sort()

  each('identifiers have a prefix and sort by time', async () => {
    const [first, second] = [await one(), await one()]
    assert.ok(first.id.startsWith(`${prefix}_`))
    assert.match(first.id.slice(prefix.length + 1), UUID7)
    assert.ok(first.id < second.id)
    assert.is(first.created_at, first.updated_at)
    assert.ok(Math.abs(Date.parse(first.created_at) - Date.now()) < 10_000)
  })

  each('what was created is what is read, whole', async () => {
    const { token: _, secret: __, ...created } = await one()
    const read = await service.get(`${path}/${created.id}`)
    assert.equal(read.data, created)
    assert.equal(Object.keys(read.data).sort(), whole)
    assert.match(String(read.headers.etag), /^".+"$/)
  })

  each('a list shows its fields and no others', async () => {
    const [first] = await expectData(service.get(`${path}?limit=1`))
    assert.equal(Object.keys(first).sort(), listed)
  })

  each('a list is paged, 20 at a time and newest first unless asked otherwise', async () => {
    const total = (await everything(family)).length
    const first = (await service.get(path)).body
    assert.equal(first.pagination, { page: 1, limit: 20, total, pages: Math.ceil(total / 20) })
    assert.is(first.data.length, 20)
    const newest = [...first.data].map(({ created_at }: Json) => created_at)
    assert.equal(newest, [...newest].sort().reverse())
    const pages = [1, 2, 3].map(async (page) => (await service.get(`${path}?limit=7&page=${page}&sort=id&order=asc`)).data)
    const ids = (await Promise.all(pages)).flat().map(({ id }: Json) => id)
    assert.is(new Set(ids).size, 21)
    assert.equal(ids, [...ids].sort())
    const beyond = (await service.get(`${path}?page=1000`)).body
    assert.equal(beyond.data, [])
    assert.is(beyond.pagination.total, total)
  })

  each('page and limit outside their range are refused', async () => {
    for (const query of [
      'limit=0',
      'limit=101',
      'limit=-1',
      'limit=ten',
      'limit=1.5',
      'limit=',
      'page=0',
      'page=-1',
      'page=x',
      'page=1e20',
    ])
      await expectError(service.get(`${path}?${query}`), 'VALIDATION_ERROR', { field: query.split('=')[0] as string })
    await expectData(service.get(`${path}?limit=100&page=1`))
  })

  for (const field of getSortableFields(family.resource)) {
    each(`a list sorts by ${field} in both directions, without losing or repeating any`, async () => {
      const records = new Map<string, Json>()
      for (const { id } of await everything(family)) records.set(id, await expectData(service.get(`${path}/${id}`)))
      for (const order of ['asc', 'desc']) {
        const ids = (await everything(family, `&sort=${field}&order=${order}`)).map(({ id }) => id)
        assert.is(new Set(ids).size, records.size)
        const expected = [...records.values()]
          .sort((a, b) => (compared(a[field], b[field]) || compared(a.id, b.id)) * (order === 'asc' ? 1 : -1))
          .map(({ id }) => id)
        assert.equal(ids, expected)
      }
    })

    if (field === 'limit') continue // the page's own word
    each(`a list filters by ${field}`, async () => {
      const records: Json[] = []
      for (const { id } of await everything(family)) records.push(await expectData(service.get(`${path}/${id}`)))
      const values = new Set(records.map((record) => record[field]).filter((value) => value !== null))
      for (const value of [...values].slice(0, 4)) {
        const found = await everything(family, `&${field}=${encodeURIComponent(String(value))}`)
        const expected = records.filter((record) => record[field] === value).map(({ id }) => id)
        assert.equal(found.map(({ id }) => id).sort(), expected.sort(), `${field}=${value}`)
      }
    })
  }

  each('filters narrow each other down, and what matches nothing is an empty page', async () => {
    const [first] = made[name] as Json[]
    const both = await everything(family, `&id=${first.id}&created_at=${first.created_at}`)
    assert.equal(
      both.map(({ id }) => id),
      [first.id],
    )
    assert.equal(await everything(family, `&id=${first.id}&created_at=2001-01-01`), [])
    const { pagination } = (await service.get(`${path}?id=nobody`)).body
    assert.equal(pagination, { page: 1, limit: 20, total: 0, pages: 0 })
  })

  each('an unknown filter, sort or order is refused with the word that was meant', async () => {
    await expectError(service.get(`${path}?create_at=x`), 'VALIDATION_ERROR', { field: 'create_at', hint: /Did you mean "created_at"/ })
    await expectError(service.get(`${path}?nonsense=x`), 'VALIDATION_ERROR', { field: 'nonsense', hint: /Known fields are .*created_at/ })
    await expectError(service.get(`${path}?sort=updatedat`), 'VALIDATION_ERROR', { field: 'sort', hint: /Did you mean "updated_at"/ })
    await expectError(service.get(`${path}?sort=id;drop`), 'VALIDATION_ERROR', { field: 'sort' })
    await expectError(service.get(`${path}?order=down`), 'VALIDATION_ERROR', { field: 'order' })
    await expectError(service.get(`${path}?id=a&id=b`), 'VALIDATION_ERROR', { field: 'id' })
  })

  each('filters are values, never SQL', async () => {
    const total = (await everything(family)).length
    for (const value of ["' OR 1=1 --", '" OR ""="', "'; DROP TABLE agents; --", '%', '_', '\\', '\u0000', '{"$ne":null}'])
      assert.equal(await everything(family, `&id=${encodeURIComponent(value)}`), [], value)
    assert.is((await everything(family)).length, total)
  })

  for (const method of ['PUT', 'PATCH'] as const) {
    each(`${method} changes the fields it names, keeps the rest and answers the whole`, async () => {
      const { token: _, secret: __, ...before } = await one(1)
      const after = await expectData(service.call(method, `${path}/${before.id}`, sampleOf(name).change), 200)
      const { updated_at, ...rest } = changed(before)
      assert.ok(after.updated_at >= updated_at)
      const expected = { ...rest, ...('version' in before ? { version: before.version + 1 } : {}) }
      assert.equal({ ...after, updated_at: undefined }, { ...expected, updated_at: undefined })
      assert.equal(await expectData(service.get(`${path}/${before.id}`)), after)
    })
  }

  each('a change that names nothing or something unknown is refused and changes nothing', async () => {
    const before = await expectData(service.get(`${path}/${(await one(2)).id}`))
    await expectError(service.put(`${path}/${before.id}`, {}), 'VALIDATION_ERROR')
    const wrong = await expectError(service.put(`${path}/${before.id}`, { ...sampleOf(name).change, nmae: 'x' }), 'VALIDATION_ERROR', {
      field: 'nmae',
    })
    assert.ok(wrong.hint)
    for (const body of [{ id: 'other' }, { created_at: '2001-01-01T00:00:00Z' }, [], 'text', 7, null, true])
      await expectError(service.put(`${path}/${before.id}`, body), 'VALIDATION_ERROR')
    assert.equal(await expectData(service.get(`${path}/${before.id}`)), before)
  })

  each('a create without what is required, or with what is not known, is refused', async () => {
    await expectError(service.post(path, {}), 'VALIDATION_ERROR')
    await expectError(service.post(path), 'VALIDATION_ERROR')
    for (const body of [[], 'text', 7, null, true, [{}]]) await expectError(service.post(path, body), 'VALIDATION_ERROR')
    const total = (await everything(family)).length
    for (const required of (family.create as { required?: string[] }).required ?? []) {
      const { [required]: _, ...incomplete } = ((family.create as unknown as { examples: Json[] }).examples[0] ?? {}) as Json
      await expectError(service.post(path, incomplete), 'VALIDATION_ERROR')
    }
    assert.is((await everything(family)).length, total)
  })

  each('what does not exist is not found, by every method', async () => {
    for (const id of [`${prefix}_019a3c5e-7d2b-7c31-9a44-0c9f5d1e2b3a`, 'x', '..%2f..%2fetc', '%00', "'%20OR%201=1", '💥'].map(encodeURI)) {
      const expected = { error: new RegExp(`no ${noun}`) }
      await expectError(service.get(`${path}/${id}`), 'NOT_FOUND', expected)
      await expectError(service.put(`${path}/${id}`, sampleOf(name).change), 'NOT_FOUND', expected)
      await expectError(service.patch(`${path}/${id}`, sampleOf(name).change), 'NOT_FOUND', expected)
      await expectError(service.delete(`${path}/${id}`), 'NOT_FOUND', expected)
    }
    await expectError(service.get(`${path}/${'x'.repeat(201)}`), 'VALIDATION_ERROR', { field: 'id' })
  })

  each('what is deleted is gone, says so, and is not deleted twice', async () => {
    const record = await one()
    const { message } = (await service.delete(`${path}/${record.id}`)).body
    assert.match(message, new RegExp(`^The ${noun} ".+" was deleted\\.$`))
    await expectError(service.get(`${path}/${record.id}`), 'NOT_FOUND')
    await expectError(service.delete(`${path}/${record.id}`), 'NOT_FOUND')
    assert.equal(await everything(family, `&id=${record.id}`), [])
  })

  each('a change or delete over an older version is refused; over the current one it is done', async () => {
    const { id } = await one()
    const { headers } = await service.get(`${path}/${id}`)
    const seen = { headers: { 'if-match': String(headers.etag) } }
    const first = await service.put(`${path}/${id}`, sampleOf(name).change, seen)
    assert.is(first.status, 200)
    assert.is.not(first.headers.etag, headers.etag)
    await expectError(service.put(`${path}/${id}`, sampleOf(name).change, seen), 'CONFLICT', { hint: /Read it again/ })
    await expectError(service.patch(`${path}/${id}`, sampleOf(name).change, seen), 'CONFLICT')
    await expectError(service.delete(`${path}/${id}`, seen), 'CONFLICT')
    assert.is((await service.put(`${path}/${id}`, sampleOf(name).change, { headers: { 'if-match': '*' } })).status, 200)
    const current = (await service.get(`${path}/${id}`)).headers.etag
    assert.is((await service.delete(`${path}/${id}`, { headers: { 'if-match': `"other", ${current}` } })).status, 200)
  })

  const { label } = createSamples({} as Resources)[name] ?? {}
  if (label !== undefined) {
    each(`any text will do for ${label}, and comes back as it was`, async () => {
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
        const after = await expectData(service.put(`${path}/${id}`, { [label]: text }))
        assert.is(after[label], text)
        assert.equal((await expectData(service.get(`${path}/${id}`)))[label], text)
        assert.equal(
          (await everything(family, `&${label}=${encodeURIComponent(text)}`)).some((found) => found.id === id),
          true,
        )
      }
    })

    each(`text that cannot be kept as it is, is refused for ${label}`, async () => {
      const { id } = await one()
      for (const text of ['zero \u0000 inside', '\u0000', 'half \ud83d pair', '\udc69'])
        await expectError(service.call('PUT', `${path}/${id}`, undefined, { raw: JSON.stringify({ [label]: text }) }), 'VALIDATION_ERROR', {
          field: label,
        })
    })
  }
}

test.run()
