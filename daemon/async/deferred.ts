/** A promise that is resolved from outside: Promise.withResolvers, which Node.js 20 does not have. */

interface Deferred<T> {
  promise: Promise<T>
  resolve(value: T): void
}

export function createDeferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}
