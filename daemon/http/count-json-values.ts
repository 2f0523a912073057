/** Counts the values of a JSON text without parsing: parsing megabytes of small values takes half a minute and gigabytes of memory. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENERS = new Set([0x5b, 0x7b])

/** Counts commas and opening brackets outside of strings. */
export function hasMoreValuesThan(json: string, limit: number): boolean {
  let count = 0
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if (code === QUOTE) index = findStringEnd(json, index)
    else if ((code === COMMA || OPENERS.has(code)) && ++count > limit) return true
  }
  return false
}

/** Finds the closing quote: the next one after an even number of backslashes. */
function findStringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end - 1
    while (json.charCodeAt(before) === BACKSLASH) before--
    if ((end - before) % 2 === 1) return end
  }
  return json.length
}
