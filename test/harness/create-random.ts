/** A seeded generator of random numbers, so that a run can be repeated. */

/** Creates a function that returns numbers from 0 up to 1. */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
