/** How many values a JSON text holds, without reading it: a large one full of small values takes the parser half a minute and gigabytes. */

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENERS = new Set([0x5b, 0x7b])

/** Whether there are more commas and opening brackets outside its texts than this. */
export function hasMoreValuesThan(json: string, most: number): boolean {
  let count = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    if (code === QUOTE) at = findStringEnd(json, at)
    else if ((code === COMMA || OPENERS.has(code)) && ++count > most) return true
  }
  return false
}

/** Where the text that begins here ends: the next quote that an odd number of backslashes does not escape. */
function findStringEnd(json: string, begin: number): number {
  for (let end = json.indexOf('"', begin + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let before = end - 1
    while (json.charCodeAt(before) === BACKSLASH) before--
    if ((end - before) % 2 === 1) return end
  }
  return json.length
}
