/** So many at a time: whoever comes when all places are taken waits in line. */

/** Resolves when it is one's turn, with how to end it; said again, that does nothing. */
export type Turn = () => Promise<() => void>

export class TurnTaking {
  #places: number
  readonly #line: (() => void)[] = []

  constructor(places: number) {
    this.#places = places
  }

  readonly turn: Turn = async () => {
    if (this.#places > 0) this.#places--
    else await new Promise<void>((resolve) => this.#line.push(resolve))
    let over = false
    return () => {
      if (over) return
      over = true
      const next = this.#line.shift()
      if (next) next()
      else this.#places++
    }
  }
}
