/** Splits items into batches, so that few of them are in memory at a time. A batch ends with the item that makes it heavy enough. */
export function* splitByWeight<T>(items: Iterable<T>, minWeight: number, weigh: (item: T) => number): Generator<T[]> {
  let batch: T[] = []
  let weight = 0
  for (const item of items) {
    batch.push(item)
    weight += weigh(item)
    if (weight < minWeight) continue
    yield batch
    batch = []
    weight = 0
  }
  if (batch.length > 0) yield batch
}
