/** Global flags before the command, as in `cadre --profile team status`. */

const WITH_VALUE = new Set(['--profile', '--output', '-o'])
const OTHERS = /^(--(profile|output)=.*|--json|--raw|--(no-)?start|--(no-)?color)$/s

/** Moves them behind the command, because oclif expects the command first. */
export function moveLeadingFlags(argv: readonly string[]): string[] {
  let count = 0
  for (let word = argv[count]; word !== undefined; word = argv[count]) {
    if (WITH_VALUE.has(word)) count += 2
    else if (OTHERS.test(word)) count++
    else break
  }
  const rest = argv.slice(count)
  // Without a command, oclif reports the flag.
  if (rest.length === 0) return [...argv]
  const end = rest.includes('--') ? rest.indexOf('--') : rest.length
  return [...rest.slice(0, end), ...argv.slice(0, count), ...rest.slice(end)]
}
