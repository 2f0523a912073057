/** Lists in pages, of services that say the truth about them and of services that do not. */
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { UnreachableError } from '../../src/client/errors.ts'
import { type Page, paginate, readAllPages } from '../../src/client/paginate.ts'
import { CadreError } from '../../src/contract/errors.ts'

const test = suite('pages')

/** Ends the lists of these tests, which would have no end without the limits. */
const LAST_PAGE = 1_000

/** A list that claims to have ten billion pages. */
function openEndlessList<T>(createItems: (page: number) => T[], pagination: object = {}) {
  const list = {
    reads: 0,
    read: async (page: number): Promise<Page<T>> => {
      list.reads++
      const pages = page < LAST_PAGE ? 1e10 : page
      return { data: createItems(page), pagination: { page, limit: 2, total: 2e10, pages, ...pagination } }
    },
  }
  return list
}

async function catchError(work: Promise<unknown>): Promise<Error & { hint?: string }> {
  try {
    await work
  } catch (error) {
    return error as Error
  }
  throw new Error('The list was read.')
}

test('every page is read', async () => {
  const pages: number[] = []
  const read = async (page: number) => {
    pages.push(page)
    return { data: [page], pagination: { page, limit: 1, total: 3, pages: 3 } }
  }
  assert.equal(await readAllPages(read), [1, 2, 3])
  assert.equal(pages, [1, 2, 3])
})

test('a list of 100,000 items is read as a whole', async () => {
  const item = { id: 'conv_1', title: 'x'.repeat(200), metadata: { team: 'support' }, tags: ['a', 'b'] }
  const read = async (page: number) => ({ data: Array(100).fill(item), pagination: { page, limit: 100, total: 100_000, pages: 1_000 } })
  assert.is((await readAllPages(read)).length, 100_000)
})

test('a list that shrinks while it is read is no error', async () => {
  const read = async (page: number) => ({
    data: page < 4 ? [page, page].slice(page - 2) : [],
    pagination: { page, limit: 2, total: page < 3 ? 8 : 5, pages: page < 3 ? 4 : 3 },
  })
  assert.equal(await readAllPages(read), [1, 2, 2, 3])
})

for (const [name, items, pagination] of [
  ['an empty page', [], {}],
  ['a page with few items', [1], { limit: 100 }],
  ['an empty page of size 0', [], { limit: 0 }],
  ['an empty page without a size', [], { limit: undefined }],
] as const)
  test(`${name} before the last one is an error`, async () => {
    const list = openEndlessList(() => [...items], pagination as object)
    const error = await catchError(readAllPages(list.read))
    assert.instance(error, UnreachableError)
    assert.match(error.message, `page 1 of 10000000000 has ${items.length} of`)
    assert.is(list.reads, 1)
  })

test('the number of items is limited, whether they are kept or not', async () => {
  const list = openEndlessList(() => ['a', 'b'])
  const limits = { maxItems: 10, maxBytes: 1_000_000 }
  const skip = async () => {
    for await (const _ of paginate(list.read, {}, limits));
  }
  for (const work of [skip(), readAllPages(list.read, {}, limits)]) {
    const error = await catchError(work)
    assert.instance(error, CadreError)
    assert.match(error.message, 'it has more than 10 items')
    assert.match(error.hint ?? '', '--page')
  }
  assert.is(list.reads, 10)
})

for (const [name, item] of [
  ['long texts', 'x'.repeat(30_000)],
  ['many values', Array(2_000).fill(1)],
  ['many names', Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`name-${'x'.repeat(20)}-${index}`, null]))],
  ['nested values', JSON.parse(`${'['.repeat(2_000)}1${']'.repeat(2_000)}`)],
] as const)
  test(`the memory of the items that are kept is limited: ${name}`, async () => {
    const list = openEndlessList(() => [item, item])
    const error = await catchError(readAllPages(list.read, {}, { maxItems: 1_000_000, maxBytes: 1024 ** 2 }))
    assert.instance(error, CadreError)
    assert.match(error.message, 'it takes more than 1 MB of memory')
    assert.ok(list.reads < 20, String(list.reads))
  })

test.run()
