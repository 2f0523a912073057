import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { compileGlob } from '../../../src/files/glob-matcher.ts'

const test = suite('globs')

const EXAMPLES: readonly [glob: string, matching: string[], other: string[]][] = [
  ['*.md', ['a.md', 'a.b.md'], ['a.txt', 'docs/a.md', '.md', '.a.md']],
  ['docs/*.md', ['docs/a.md'], ['docs/b/a.md', 'docs/.a.md', 'a.md']],
  ['**/*.md', ['a.md', 'x/y/a.md'], ['.x/a.md', 'x/.a.md']],
  ['docs/**', ['docs', 'docs/a', 'docs/a/b'], ['docs/.a', 'a/docs', 'docsx']],
  ['*/**', ['a/b', 'a/b/c'], ['a']],
  ['a/**/b', ['a/b', 'a/x/b', 'a/x/y/b'], ['a', 'ab', 'a/.x/b']],
  ['**/.github/*', ['.github/a', 'x/.github/a'], ['github/a']],
  ['file-?.txt', ['file-1.txt', 'file-ü.txt', 'file-😀.txt'], ['file-.txt', 'file-12.txt', 'file-/.txt']],
  ['[a-c]x[!0-9]', ['axx', 'cxy'], ['dxx', 'ax1', 'ax/']],
  ['{a,b{c,d}}.{md,txt}', ['a.md', 'bc.txt', 'bd.md'], ['b.md', 'ac.md']],
  ['{docs/**,src}/a', ['docs/a', 'docs/x/a', 'src/a'], ['src/x/a']],
  ['page-{1..3}', ['page-1', 'page-3'], ['page-4', 'page-{1..3}']],
  ['page-{8..1000}.md', ['page-8.md', 'page-99.md', 'page-1000.md'], ['page-7.md', 'page-08.md', 'page-1001.md']],
  ['{a..c}x', ['ax', 'cx'], ['dx', '{a..c}x']],
  ['a{b}', ['a{b}'], ['ab']],
  ['a\\*b', ['a*b'], ['axb']],
  ['\\😀', ['😀'], ['\\😀']],
  ['(draft) [1', ['(draft) [1'], ['draft [1']],
  ['a+|b$', ['a+|b$'], ['aa', 'b']],
  ['**', ['a', 'a/b'], ['.a', 'a/.b']],
]

for (const [glob, matching, other] of EXAMPLES)
  test(`${glob} matches ${matching.join(', ')}, but not ${other.join(', ')}`, () => {
    const matches = compileGlob(glob, false)
    assert.equal([...matching, ...other].filter(matches), matching)
  })

test('wildcards match hidden names if asked to', () => {
  assert.equal(['.a.md', '.x/a.md', 'x/.a.md'].filter(compileGlob('**/*.md', true)), ['.a.md', '.x/a.md', 'x/.a.md'])
})

/** Backtracking regular expressions would not finish any of these. */
test('ambiguous globs take no exponential time', () => {
  const matchesBraces = compileGlob(`${'{a,aa}'.repeat(40)}c.md`, false)
  assert.not(matchesBraces(`${'a'.repeat(60)}.md`))
  assert.ok(matchesBraces(`${'a'.repeat(60)}c.md`))
  assert.not(compileGlob(`${'**/a/'.repeat(60)}b`, false)('a/'.repeat(2_000)))
  assert.not(compileGlob(`${'*a'.repeat(100)}b`, false)('a'.repeat(250)))
})

test.run()
