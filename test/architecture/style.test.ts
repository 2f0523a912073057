import { posix } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { code, files, getText, listFiles } from './source-tree.ts'

const MAX_FILES_PER_FOLDER = 20
const MAX_LINES = 300
const MAX_COLUMNS = 140
/** Large families are created by a function of their own (docs/decisions/0026-structure-and-naming.md). */
const MAX_COMPOSITION_LINES = 150

/** Metaphors that the industry has a word for. */
const FORBIDDEN_TYPES = ['Scene', 'Stage', 'Books', 'Room', 'Desk', 'Parlour', 'Breather', 'Canvas', 'Feed', 'Later', 'Door', 'TurnTaking']
/** Functions are verbs, not participles or nouns followed by "Of". */
const FORBIDDEN_FUNCTIONS = /^(told|retold|shown|heard|settled|noted|asked|answered|explained|shortened|named|quoted|joined|\w+Of)$/

const test = suite('style')

test(`no folder directly contains more than ${MAX_FILES_PER_FOLDER} files`, () => {
  const counts = new Map<string, number>()
  for (const file of code) counts.set(posix.dirname(file), (counts.get(posix.dirname(file)) ?? 0) + 1)
  assert.equal(
    [...counts].filter(([, count]) => count > MAX_FILES_PER_FOLDER),
    [],
  )
})

test(`no file is longer than ${MAX_LINES} lines`, () => {
  const lengths = code.map((file) => ({ file, lines: getText(file).split('\n').length }))
  assert.equal(
    lengths.filter(({ lines }) => lines > MAX_LINES),
    [],
  )
})

test(`daemon/app.ts has fewer than ${MAX_COMPOSITION_LINES} lines`, () => {
  assert.ok(getText('daemon/app.ts').trimEnd().split('\n').length < MAX_COMPOSITION_LINES)
})

test(`no line is longer than ${MAX_COLUMNS} columns`, () => {
  const long = code.flatMap((file) =>
    getText(file)
      .split('\n')
      .flatMap((line, index) => (line.length > MAX_COLUMNS ? [`${file}:${index + 1}`] : [])),
  )
  assert.equal(long, [])
})

test('file names are in kebab case', () => {
  assert.equal(
    code.filter((file) => !/^[a-z0-9]+(-[a-z0-9]+)*(\.test|\.d)?\.(ts|tsx|js)$/.test(posix.basename(file))),
    [],
  )
})

test('nothing is called utils, helpers, common or misc', () => {
  assert.equal(
    files.filter((file) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.|$)/i.test(file)),
    [],
  )
})

test('types are not metaphors, and functions are verbs', () => {
  const types = new RegExp(`\\b(?:class|interface|type)\\s+(${FORBIDDEN_TYPES.join('|')})\\b`, 'g')
  const functions = /\b(?:function\*?\s+(\w+)|const\s+(\w+)\s*=\s*(?:async\s*)?(?:<[^>]*>)?\([^)]*\)(?::[^=]+)?\s*=>)/g
  const declared = code.flatMap((file) => {
    const text = getText(file)
    const names = [...text.matchAll(functions)].map(([, one, other]) => one ?? other ?? '').filter((name) => FORBIDDEN_FUNCTIONS.test(name))
    return [...[...text.matchAll(types)].map(([, name]) => name), ...names].map((name) => `${file}: ${name}`)
  })
  assert.equal(declared, [])
})

test('segments of Intl.Segmenter are not collected, because each has a copy of the whole text in Node 20', () => {
  const collects = /\[\s*\.\.\.[^\]]*\.segment\(|Array\.from\([\w.]*\.segment\([^()]*(\([^()]*\)[^()]*)*\)\s*\)/
  assert.ok(
    collects.test('[\n  ...new Intl.Segmenter().segment(text.trim()),\n]') && collects.test('Array.from(WORDS.segment(text.trim()))'),
  )
  assert.equal(
    code.filter((file) => !file.startsWith('test/architecture/') && collects.test(getText(file))),
    [],
  )
})

test('every file except tests starts with a comment that describes it', () => {
  const undocumented = code.filter(
    (file) => !/\.test\.tsx?$/.test(file) && !/^(#!.*\n)?\/\*\*?\s+(\* )?[A-Z0-9"'`.].*\S/.test(getText(file)),
  )
  assert.equal(undocumented, [])
})

test('no file only re-exports', () => {
  const barrels = code.filter((file) => {
    const statements = getText(file)
      .replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      .split('\n')
      .filter((line) => line.trim() !== '')
    return statements.length > 0 && statements.every((line) => /^export\b.*\bfrom '\./.test(line))
  })
  assert.equal(barrels, [])
  const product = [...listFiles('src'), ...listFiles('daemon'), ...listFiles('commands')]
  assert.equal(
    product.filter((file) => /^export \* from/m.test(getText(file))),
    [],
  )
})

test.run()
