/** Maps a list with limited concurrency and yields the results in order. */

export async function* mapConcurrently<T, R>(items: readonly T[], concurrency: number, work: (item: T) => Promise<R>): AsyncGenerator<R> {
  const pending: Promise<R>[] = []
  let next = 0
  const start = () => {
    const promise = work(items[next++] as T)
    promise.catch(() => undefined) // the consumer awaits it later; until then it must not count as unhandled
    pending.push(promise)
  }
  while (next < items.length && pending.length < concurrency) start()
  while (pending.length > 0) {
    const result = await (pending.shift() as Promise<R>)
    if (next < items.length) start()
    yield result
  }
}
