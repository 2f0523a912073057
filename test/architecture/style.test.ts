import { posix } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { code, files, getText, listFiles } from './source-tree.ts'

const MAX_FILES_PER_FOLDER = 20
const MAX_LINES = 300
const MAX_COLUMNS = 140

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
