/** The vector index of a table: when it is built or replaced, and how many of its partitions a query compares. */
import type { LanceConnection, Table } from '../lance.ts'

/** Near the square root of the number of rows: a growing table gets a new index each time it has four times as many rows. */
const PARTITION_COUNTS = [128, 256, 512, 1_024, 2_048, 4_096]
/** Training with fewer iterations and samples than usual takes a third of the time at the same recall. */
const TRAINING_OPTIONS = { maxIterations: 15, sampleRate: 64 }
/** The index of version 0.1 with 256 partitions. */
const OLD_INDEX_NAME = 'vector_idx'
const OLD_PARTITIONS = 256
/** A table that shrank keeps its index unless it has this many times the partitions that it needs. */
const MAX_SURPLUS = 8
/** The share of the partitions that a query compares: it finds 0.97 of the nearest ten. */
const PROBED_SHARE = 3 / 16
/** A query of a quantized index needs more of them for the same recall. */
const PROBED_QUANTIZED_SHARE = 5 / 16
/** From here, with 512 partitions, vectors do not fit into the cache, so the index contains codes of them (IVF_RQ). */
export const MIN_QUANTIZED_ROWS = 131_072
/** A table that shrank keeps its codes down to this share, so that one near the limit is not indexed again each time it crosses it. */
const KEPT_QUANTIZED_SHARE = 1 / 4
/** IVF_RQ of LanceDB 0.31 refuses vectors with a number of dimensions that is not a multiple of it. */
const QUANTIZED_DIMENSIONS = 8
/** With one, more than twice as many vectors have to be compared again. */
const BITS_PER_DIMENSION = 2
/** A query of a quantized index compares this many times the wanted number of vectors again, exactly. */
const REFINE_FACTOR = 2

/** What a query has to know about an index. */
export interface IndexKind {
  partitions: number
  isQuantized: boolean
}

interface VectorIndex extends IndexKind {
  name: string
}

/** All names that an index can have: LanceDB does not list an unreadable index, but drops it by its name. */
export const VECTOR_INDEX_NAMES = [
  OLD_INDEX_NAME,
  ...PARTITION_COUNTS.flatMap((count) => [formatName(count, false), formatName(count, true)]),
]

export interface VectorProbes {
  partitions: number
  /** Undefined if the index contains the vectors themselves. */
  refineFactor?: number
}

/**
 * @param matching the number of rows that match the filter: the nearest of fewer matches are spread over more partitions
 * @param index has more partitions than the rows need if the table shrank, and fewer while a larger one is built
 */
export function chooseProbes(rows: number, matching: number, index?: IndexKind): VectorProbes {
  const partitions = Math.max(countPartitions(rows), index?.partitions ?? 0)
  const isQuantized = index?.isQuantized || rows >= MIN_QUANTIZED_ROWS
  const share = isQuantized ? PROBED_QUANTIZED_SHARE : PROBED_SHARE
  return {
    partitions: Math.min(partitions, Math.ceil((share * partitions * rows) / matching)),
    ...(isQuantized ? { refineFactor: REFINE_FACTOR } : {}),
  }
}

/** Returns undefined without an index. Takes 40 ms of CPU. */
export async function readIndexKind(table: Table): Promise<IndexKind | undefined> {
  const present = await listVectorIndices(table)
  if (present.length === 0) return undefined
  return {
    partitions: Math.max(...present.map(({ partitions }) => partitions)),
    isQuantized: present.some(({ isQuantized }) => isQuantized),
  }
}

/** Returns whether the index is missing, has too few partitions, or was not the only one when the daemon was killed. */
export async function needsVectorIndex(table: Table, quantizedRows: number): Promise<boolean> {
  const present = await listVectorIndices(table)
  return present.length !== 1 || (await findFittingIndex(table, present, quantizedRows)) === undefined
}

/**
 * Queries use the old index until the new one is complete.
 * @param quantizedRows a table with at least as many rows gets codes
 */
export async function updateVectorIndex({ lancedb }: LanceConnection, table: Table, quantizedRows: number): Promise<void> {
  const present = await listVectorIndices(table)
  let fitting = await findFittingIndex(table, present, quantizedRows)
  if (fitting === undefined) {
    const rows = await table.countRows()
    const numPartitions = countPartitions(rows)
    const isQuantized = rows >= quantizedRows && (await canQuantize(table))
    fitting = formatName(numPartitions, isQuantized)
    const options = { distanceType: 'dot', numPartitions, ...TRAINING_OPTIONS } as const
    const config = isQuantized ? lancedb.Index.ivfRq({ ...options, numBits: BITS_PER_DIMENSION }) : lancedb.Index.ivfFlat(options)
    await table.createIndex('vector', { config, name: fitting })
  }
  for (const { name } of present) if (name !== fitting) await table.dropIndex(name)
}

async function findFittingIndex(table: Table, present: readonly VectorIndex[], quantizedRows: number): Promise<string | undefined> {
  const rows = await table.countRows()
  const needed = countPartitions(rows)
  const mustQuantize = rows >= quantizedRows && (await canQuantize(table))
  const canKeepCodes = rows >= quantizedRows * KEPT_QUANTIZED_SHARE
  const isFitting = ({ partitions, isQuantized }: VectorIndex) =>
    partitions >= needed && partitions < needed * MAX_SURPLUS && (isQuantized ? canKeepCodes : !mustQuantize)
  return present.find(isFitting)?.name
}

export const countPartitions = (rows: number): number =>
  PARTITION_COUNTS.findLast((count) => count ** 2 <= 2 * rows) ?? (PARTITION_COUNTS[0] as number)

async function listVectorIndices(table: Table): Promise<VectorIndex[]> {
  const indexes = (await table.listIndices()).filter(({ columns }) => columns.includes('vector'))
  return indexes.map(({ name }) => {
    const [, partitions = OLD_PARTITIONS, quantized] = /^vector_(\d+)_(rq_)?idx$/.exec(name) ?? []
    return { name, partitions: Number(partitions), isQuantized: quantized !== undefined }
  })
}

function formatName(partitions: number, isQuantized: boolean): string {
  return `vector_${partitions}_${isQuantized ? 'rq_' : ''}idx`
}

async function canQuantize(table: Table): Promise<boolean> {
  const { fields } = await table.schema()
  const type: { listSize?: number } | undefined = fields.find(({ name }) => name === 'vector')?.type
  return type?.listSize !== undefined && type.listSize % QUANTIZED_DIMENSIONS === 0
}
