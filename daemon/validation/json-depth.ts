/** Checks how deeply a JSON value nests. Very deep values would overflow the stack of recursive code. */

export function exceedsDepth(value: unknown, maxDepth: number): boolean {
  let level = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((part) => (part !== null && typeof part === 'object' ? Object.values(part) : []))
  }
  return false
}
