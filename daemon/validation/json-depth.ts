/** How deep a value nests: what goes deeper than anybody means to would overflow the stack of whoever walks it. */

export function exceedsDepth(value: unknown, deepest: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > deepest) return true
    level = level.flatMap((part) => (part !== null && typeof part === 'object' ? Object.values(part) : []))
  }
  return false
}
