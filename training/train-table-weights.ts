/**
 * Learns the weights of daemon/tables from questions with answers: `npx tsx training/train-table-weights.ts`.
 * Each round runs the best candidates of every question with the weights so far, and raises those with the right result.
 */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
import { deserialize, serialize } from 'node:v8'
import { isSameAnswer, loadTableQuestions, type QuestionTable, type TableQuestion } from '../bench/support/table-questions.ts'
import { describeResult } from '../daemon/tables/features.ts'
import { linkQuestion } from '../daemon/tables/linking/link-question.ts'
import { ignoreTitle } from '../daemon/tables/linking/title-words.ts'
import { parseQuestion, type Question } from '../daemon/tables/parse-question.ts'
import type { Query } from '../daemon/tables/query.ts'
import { getResultKey, selectCandidates } from '../daemon/tables/rank-queries.ts'
import { writeSql } from '../daemon/tables/sql/write-sql.ts'
import type { CellValue, SqlValue, TypedTable } from '../daemon/tables/typed-table.ts'
import { openTable } from '../test/tables/open-table.ts'
import { createBusinessTables } from './business-questions.ts'

const ROUNDS = Number(process.env.ROUNDS ?? 3)
const EPOCHS = Number(process.env.EPOCHS ?? 8)
const CANDIDATES = Number(process.env.CANDIDATES ?? 150)
const SAMPLE = Number(process.env.SAMPLE ?? 1)
const OFFSET = Number(process.env.OFFSET ?? 0)
const RATE = 0.1
const L1 = Number(process.env.L1 ?? 3e-5)
/** Features of fewer questions are left out. */
const MIN_QUESTIONS = Number(process.env.MIN_QUESTIONS ?? 6)
const MIN_WEIGHT = 0.06
const OUTPUT = process.env.OUTPUT ?? 'daemon/tables/weights.json'

/** Weights of the first round, until there are learned ones. */
const PRIOR: [string, number][] = [
  ...[0, 1, 2, 3, 4, 5, 6].map((count): [string, number] => [`uncovered ${count}`, -count]),
  ['target exact', 2],
  ['target part', 1],
  ['target synonym', 0.5],
  ['key exact', 2],
  ['key part', 1],
  ['key near exact', 1],
  ['if exact', 1],
  ['if comparison', 1],
  ['result one', 1],
  ['result none', -5],
]

/** A file that keeps the candidates, to try other settings with REUSE=1. */
const CACHE = process.env.CACHE

interface Example {
  /** Feature ids of each candidate. */
  candidates: Int32Array[]
  isRight: boolean[]
  keys: string[]
}

const data = loadTableQuestions()
if (!data) throw new Error('Set CADRE_TABLE_QUESTIONS to the folder with questions.tsv.gz and tables.tar.gz.')
const { tables } = data
const questions = data.questions.filter(({ split }) => split === 'train').filter((_, index) => index % SAMPLE === OFFSET)
// Tables of every tenth position are held back to choose settings; the final weights are learned from all.
const names = [...new Set(questions.map(({ table }) => table))].sort()
const held = new Set(process.env.FINAL ? [] : names.filter((_, index) => index % 10 === 0))

// Weights to start from instead of the prior ones.
const initial = process.env.WEIGHTS
let weights = new Map<string, number>(
  initial === undefined ? PRIOR : (Object.entries(JSON.parse(readFileSync(initial, 'utf8'))) as [string, number][]),
)
const ids = new Map<string, number>()
for (let round = 0; round < ROUNDS; round++) {
  const training: Example[] = []
  const validation: Example[] = []
  for (const example of CACHE && process.env.REUSE ? CACHE.split(',').flatMap((path) => [...readExamples(path)]) : createExamples())
    (example.isHeld ? validation : training).push(example)
  if (CACHE && !process.env.REUSE)
    writeExamples(CACHE, [
      ...training.map((example) => ({ ...example, isHeld: false })),
      ...validation.map((example) => ({ ...example, isHeld: true })),
    ])
  const reachable = training.filter(({ isRight }) => isRight.includes(true)).length
  console.log(
    `round ${round}: ${training.length} questions, ${((reachable / training.length) * 100).toFixed(1)} % reachable, ${ids.size} features`,
  )
  weights = learn(training, validation)
}
const kept = [...weights].filter(([, weight]) => Math.abs(weight) >= MIN_WEIGHT).sort(([a], [b]) => (a < b ? -1 : 1))
const rounded = Object.fromEntries(kept.map(([name, weight]) => [name, Number(weight.toFixed(2))]))
writeFileSync(OUTPUT, `${JSON.stringify(rounded, undefined, 2)}\n`)
console.log(`${kept.length} weights`)

/** Questions over business tables, whose right results are those of their queries. */
function* createBusinessExamples(): Generator<Example & { isHeld: boolean }> {
  for (const [index, { title, header, rows, questions: asked }] of createBusinessTables(42).entries()) {
    const { table, values, run: runSql, close } = openTable(title, header, rows)
    const run = (query: Query) => runSql(writeSql(table, query))
    for (const { text, query } of asked) {
      const expected = getResultKey(query, run(query))
      if (expected === '[]' || expected === '[""]') continue
      const question = ignoreTitle(parseQuestion(text), table)
      yield { ...createExample(question, table, run, (found, rows) => getResultKey(found, rows) === expected, values), isHeld: index === 7 }
    }
    close()
  }
}

function* createExamples(): Generator<Example & { isHeld: boolean }> {
  yield* createBusinessExamples()
  const byTable = new Map<string, TableQuestion[]>()
  for (const question of questions) byTable.set(question.table, [...(byTable.get(question.table) ?? []), question])
  for (const [name, asked] of byTable) {
    const { header, rows } = tables.get(name) as QuestionTable
    const { table, values, run: runSql, close } = openTable(name, header, rows)
    const run = (query: Query) => runSql(writeSql(table, query))
    for (const { text, answers } of asked) {
      const isRight = ({ operation }: Query, found: SqlValue[][]) => {
        const texts = found
          .map(([value]) => value)
          .filter((value) => value !== null)
          .map(String)
        return (
          texts.length > 0 &&
          isSameAnswer(operation.kind === 'exists' ? texts.map((value) => (value === '1' ? 'yes' : 'no')) : texts, answers)
        )
      }
      yield { ...createExample(parseQuestion(text), table, run, isRight, values), isHeld: held.has(name) }
    }
    close()
  }
}

function createExample(
  question: Question,
  table: TypedTable,
  run: (query: Query) => SqlValue[][],
  isRight: (query: Query, rows: SqlValue[][]) => boolean,
  values: readonly CellValue[],
): Example {
  const example: Example = { candidates: [], isRight: [], keys: [] }
  const links = linkQuestion(question, table, values)
  for (const { query, parts, features } of selectCandidates(question, table, links, weights, CANDIDATES)) {
    const rows = run(query)
    const all = [...features, ...parts.flatMap((part) => part.features), ...describeResult(question, query, rows)]
    example.candidates.push(Int32Array.from(all, getId))
    example.isRight.push(isRight(query, rows))
    example.keys.push(getResultKey(query, rows))
  }
  return example
}

function writeExamples(path: string, examples: readonly (Example & { isHeld: boolean })[]): void {
  const file = openSync(path, 'w')
  for (const item of [[...ids.keys()], ...examples]) {
    const bytes = serialize(item)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(bytes.length)
    writeSync(file, length)
    writeSync(file, bytes)
  }
  closeSync(file)
}

function* readExamples(path: string): Generator<Example & { isHeld: boolean }> {
  const bytes = readFileSync(path)
  let mapping = new Int32Array()
  for (let offset = 0; offset < bytes.length; ) {
    const length = bytes.readUInt32LE(offset)
    const item = deserialize(bytes.subarray(offset + 4, offset + 4 + length)) as (Example & { isHeld: boolean }) | string[]
    if (Array.isArray(item)) mapping = Int32Array.from(item, getId)
    else yield { ...item, candidates: item.candidates.map((candidate) => candidate.map((id) => mapping[id] as number)) }
    offset += 4 + length
  }
}

function getId(feature: string): number {
  const id = ids.get(feature) ?? ids.size
  if (id === ids.size) ids.set(feature, id)
  return id
}

/** AdaGrad on the likelihood of the right results, with an L1 penalty. */
function learn(training: readonly Example[], validation: readonly Example[]): Map<string, number> {
  const counts = new Int32Array(ids.size)
  for (const { candidates } of training)
    for (const id of new Set(candidates.flatMap((candidate) => [...candidate]))) counts[id] = (counts[id] as number) + 1
  // Weights to start from are only adjusted: a sample of the questions is enough then.
  const vector = Float64Array.from(ids.keys(), (name) => (initial === undefined ? 0 : (weights.get(name) ?? 0)))
  const squares = new Float64Array(ids.size).fill(1e-6)
  const usable = training.filter(({ isRight }) => isRight.includes(true))
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { candidates, isRight } of shuffle(usable, epoch)) {
      const gradient = new Map<number, number>()
      const scores = candidates.map((candidate) => score(candidate, vector))
      const [all, right] = [softmax(scores), softmax(scores.map((value, index) => (isRight[index] ? value : Number.NEGATIVE_INFINITY)))]
      for (const [index, candidate] of candidates.entries()) {
        const step = (right[index] as number) - (all[index] as number)
        if (Math.abs(step) < 1e-4) continue
        for (const id of candidate) if ((counts[id] as number) >= MIN_QUESTIONS) gradient.set(id, (gradient.get(id) ?? 0) + step)
      }
      for (const [id, value] of gradient) {
        squares[id] = (squares[id] as number) + value * value
        const rate = RATE / Math.sqrt(squares[id] as number)
        const moved = (vector[id] as number) + rate * value
        vector[id] = Math.sign(moved) * Math.max(0, Math.abs(moved) - rate * L1 * 100)
      }
    }
    if (epoch % 2 === 1 || epoch === EPOCHS - 1)
      console.log(`  epoch ${epoch}: train ${report(usable.slice(0, 1500), vector)}; held ${report(validation, vector)}`)
  }
  const learned = [...ids].map(([name, id]): [string, number] => [name, vector[id] as number])
  return new Map([...(initial === undefined ? [] : weights), ...learned].filter(([, weight]) => weight !== 0))
}

function score(candidate: Int32Array, vector: Float64Array): number {
  let sum = 0
  for (const id of candidate) sum += vector[id] as number
  return sum
}

function softmax(scores: readonly number[]): number[] {
  const top = Math.max(...scores)
  const weights = scores.map((value) => Math.exp(value - top))
  const total = weights.reduce((sum, value) => sum + value, 0)
  return weights.map((value) => value / total)
}

/** The share right, and the largest share right of all for which 70 and 80 % of those answered are right. */
function report(examples: readonly Example[], vector: Float64Array): string {
  const results = examples.map(({ candidates, isRight, keys }) => {
    const shares = new Map<string, { share: number; isRight: boolean }>()
    for (const [index, share] of softmax(candidates.map((candidate) => score(candidate, vector))).entries()) {
      const key = keys[index] as string
      shares.set(key, { share: (shares.get(key)?.share ?? 0) + share, isRight: isRight[index] as boolean })
    }
    return [...shares.values()].reduce((best, item) => (item.share > best.share ? item : best), { share: 0, isRight: false })
  })
  const sorted = results.sort((a, b) => b.share - a.share)
  const right = sorted.filter((result) => result.isRight).length
  const at = (precision: number) => {
    let [best, hits, threshold] = [0, 0, 1]
    for (const [index, result] of sorted.entries()) {
      if (result.isRight) hits++
      if (hits / (index + 1) >= precision) [best, threshold] = [hits, result.share]
    }
    return `${((best / examples.length) * 100).toFixed(1)} % at ${precision} (share ${threshold.toFixed(2)})`
  }
  return `${((right / examples.length) * 100).toFixed(1)} % right, ${at(0.7)}, ${at(0.8)}`
}

function shuffle<T>(items: readonly T[], seed: number): T[] {
  let state = seed * 7919 + 1
  const random = () => {
    state = (state * 1103515245 + 12345) % 2147483648
    return state / 2147483648
  }
  return items
    .map((item) => ({ item, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ item }) => item)
}
