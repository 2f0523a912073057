/** Reads lists in pages. What a service says about its pages is not trusted: commands end, and what they collect fits into memory. */
import { CadreError } from '../contract/errors.ts'
import type { Pagination } from '../contract/schemas/list-query.ts'
import { UnreachableError } from './errors.ts'
import { type Connection, SLOW_MS } from './request.ts'

export interface Page<T> {
  data: T[]
  pagination: Pagination
}

type ReadPage<T> = (page: number) => Promise<Page<T>>

export interface ListLimits {
  maxItems: number
  /** Of the items that are kept, roughly as in memory. */
  maxBytes: number
}

/** Ten times the conversations of a very large home. Half a million of these are about 250 MB. */
const LIST_LIMITS: ListLimits = { maxItems: 1_000_000, maxBytes: 256 * 1024 * 1024 }
/** What an object, a number or an empty text takes in memory. */
const BYTES_PER_VALUE = 24

/** Yields the pages of a list. With a connection, shows progress if that takes long. */
export async function* paginate<T>(
  read: ReadPage<T>,
  { showProgress }: Pick<Connection, 'showProgress'> = {},
  { maxItems }: Pick<ListLimits, 'maxItems'> = LIST_LIMITS,
): AsyncGenerator<Page<T>> {
  const startedAt = Date.now()
  let done = 0
  try {
    for (let page = 1; ; page++) {
      const response = await read(page)
      const { data, pagination } = response
      done += data.length
      if (Date.now() - startedAt > SLOW_MS) showProgress?.({ label: 'Reading', done, total: pagination.total, unit: 'items' })
      yield response
      if (page >= pagination.pages) return
      requireNextPage(page, response)
      if (done >= maxItems) throw createSizeError(`it has more than ${maxItems.toLocaleString('en')} items`)
    }
  } finally {
    showProgress?.(undefined)
  }
}

/** Returns the items of all pages. */
export async function readAllPages<T>(
  read: ReadPage<T>,
  connection: Pick<Connection, 'showProgress'> = {},
  limits: ListLimits = LIST_LIMITS,
): Promise<T[]> {
  const items: T[] = []
  let bytes = 0
  for await (const { data } of paginate(read, connection, limits)) {
    bytes += estimateMemory(data)
    if (bytes > limits.maxBytes) throw createSizeError(`it takes more than ${Math.floor(limits.maxBytes / 1024 ** 2)} MB of memory`)
    for (const item of data) items.push(item)
  }
  return items
}

/** A page before the last one is full. A few items less are a list that was changed while the page was read. */
function requireNextPage(page: number, { data, pagination: { pages, limit } }: Page<unknown>): void {
  // The negation also refuses a limit that is no number.
  if (!(data.length * 2 >= Math.max(1, limit)))
    throw new UnreachableError(`The list ended early: page ${page} of ${pages} has ${data.length} of ${limit} items.`, {
      hint: 'Check whether this is a Cadre service. If many items were deleted meanwhile, try again.',
    })
}

/** Without recursion: a service can nest values deeply. */
function estimateMemory(value: unknown): number {
  let bytes = 0
  const left = [value]
  while (left.length > 0) {
    const next = left.pop()
    bytes += BYTES_PER_VALUE
    if (typeof next === 'string') bytes += next.length
    else if (Array.isArray(next)) for (const part of next) left.push(part)
    else if (typeof next === 'object' && next !== null)
      for (const [name, part] of Object.entries(next)) {
        bytes += name.length
        left.push(part)
      }
  }
  return bytes
}

const createSizeError = (problem: string) =>
  new CadreError('PAYLOAD_TOO_LARGE', `Cannot read the whole list: ${problem}.`, {
    hint: 'Read parts of it: with filters (-f field=value), or page by page (--page 1 --limit 100; cadre api: -F page=1 -F limit=100).',
  })
