/** Two texts line by line: what only the first has, what only the second has, and what both have, in order. */

export interface DiffLine {
  sign: '-' | '+' | ' '
  text: string
}

/** Beyond this many pairs of lines the middle is told as wholly different: nobody reads such a diff line by line. */
const MAX_PAIRS = 1_000_000

export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split('\n')
  const b = after.split('\n')
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return [
    ...signed(' ', a.slice(0, start)),
    ...between(a.slice(start, a.length - end), b.slice(start, b.length - end)),
    ...signed(' ', a.slice(a.length - end)),
  ]
}

/** The longest common subsequence, by the table of all pairs. */
function between(a: string[], b: string[]): DiffLine[] {
  if (a.length * b.length > MAX_PAIRS) return [...signed('-', a), ...signed('+', b)]
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => common[i * width + j] as number
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: DiffLine[] = []
  let [i, j] = [0, 0]
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i++] as string })
      j++
    } else if (at(i + 1, j) >= at(i, j + 1)) lines.push({ sign: '-', text: a[i++] as string })
    else lines.push({ sign: '+', text: b[j++] as string })
  }
  return [...lines, ...signed('-', a.slice(i)), ...signed('+', b.slice(j))]
}

const signed = (sign: DiffLine['sign'], lines: readonly string[]): DiffLine[] => lines.map((text) => ({ sign, text }))
