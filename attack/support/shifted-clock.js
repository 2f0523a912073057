/** Preloaded into the daemon: shifts its wall clock by the milliseconds in a file, which can change at any time. */
import { readFileSync } from 'node:fs'

const path = process.env.ATTACK_CLOCK_SHIFT
if (path) {
  const SystemDate = Date
  const readShift = () => Number(readFileSync(path, 'utf8')) || 0
  let shift = readShift()
  setInterval(() => {
    shift = readShift()
  }, 10).unref()
  globalThis.Date = class extends SystemDate {
    constructor(...given) {
      if (given.length === 0) super(SystemDate.now() + shift)
      else super(...given)
    }

    static now() {
      return SystemDate.now() + shift
    }
  }
}
