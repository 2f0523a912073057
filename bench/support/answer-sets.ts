/** Loads the sets of questions that the answers of the embedded model are measured with, and checks answers. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { ROOT } from './daemon.ts'
import type { SourceDocument } from './sync-source.ts'

/** Contains xquad.en.json.gz, xquad.de.json.gz and xquad.es.json.gz (the layout of SQuAD). */
const XQUAD_FOLDER = process.env.CADRE_READER_EVALUATION ?? join('..', 'shared', 'reader', 'eval')
/** Every n-th question is asked, to save time. */
const SAMPLE_INTERVAL = Math.max(1, Number(process.env.CADRE_BENCH_SAMPLE) || 1)
/** Articles at these positions are not indexed: their questions have no answer. */
const isForeignArticle = (position: number) => position % 4 === 3
/** Every second question was used to choose the weights of daemon/models/quoted-answers/rank-answers.ts. */
const isTuningQuestion = (position: number) => position % 2 === 0

export const KINDS = ['reference', 'handbook', 'policy', 'tables', 'contracts', 'manuals', 'mails', 'faq'] as const
export type Kind = (typeof KINDS)[number]

export type XquadLanguage = 'en' | 'de' | 'es'

export interface XquadQuestion {
  text: string
  answers: string[]
  /** Whether its paragraph is indexed. */
  isOwn: boolean
  isTuning: boolean
}

export interface XquadSet {
  documents: SourceDocument[]
  questions: XquadQuestion[]
}

export interface LabelledQuestion {
  kind: Kind
  question: string
  /** Empty: no document answers the question. */
  answers: string[]
  half: 'work' | 'held'
  /** Whether it is worded unlike the text. */
  unlike?: boolean
}

interface SquadArticle {
  paragraphs: { context: string; qas: { question: string; answers: { text: string }[] }[] }[]
}

export function loadXquad(language: XquadLanguage): XquadSet | undefined {
  const path = join(XQUAD_FOLDER, `xquad.${language}.json.gz`)
  if (!existsSync(path)) return undefined
  const { data } = JSON.parse(gunzipSync(readFileSync(path)).toString()) as { data: SquadArticle[] }
  const documents = data.flatMap(({ paragraphs }, article) =>
    isForeignArticle(article) ? [] : paragraphs.map(({ context }, index) => ({ id: `article-${article}-${index}`, text: context })),
  )
  const questions = data.flatMap(({ paragraphs }, article) =>
    paragraphs.flatMap(({ qas }) =>
      qas.map(({ question, answers }) => ({
        text: question,
        answers: answers.map(({ text }) => text),
        isOwn: !isForeignArticle(article),
      })),
    ),
  )
  return { documents, questions: sample(questions.map((question, position) => ({ ...question, isTuning: isTuningQuestion(position) }))) }
}

export function loadLabelledQuestions(): LabelledQuestion[] {
  const lines = readFileSync(join(ROOT, 'bench', 'answers', 'questions.jsonl'), 'utf8')
    .split('\n')
    .filter(Boolean)
  return sample(lines.map((line) => JSON.parse(line) as LabelledQuestion))
}

/** Returns the documents of a kind, as bench/answers/README.md lists them. */
export function loadLabelledDocuments(kind: Kind): SourceDocument[] {
  return listFiles(kind).map((path) => {
    const [, packageName] = /^node_modules\/([^/]+)\//.exec(path) ?? []
    const file = packageName === undefined ? basename(path) : `${packageName}-${basename(path)}`
    const name = /\.(?:md|txt|csv|js|conf|eml)$/.test(file) ? file : `${file}.txt`
    return { id: file, name, text: readFileSync(join(ROOT, path), 'utf8') }
  })
}

function listFiles(kind: Kind): string[] {
  const list = (folder: string) => readdirSync(join(ROOT, folder)).map((name) => `${folder}/${name}`)
  if (kind === 'reference') return list('node_modules/fastify/docs/Reference').filter((path) => path.endsWith('.md'))
  const copies = list(`bench/answers/documents/${kind}`)
  if (kind !== 'tables') return copies
  const readmes = ['autocannon', 'croner', 'close-with-grace'].map((name) => `node_modules/${name}/README.md`)
  return [...copies, ...readmes, 'node_modules/autocannon/lib/defaultOptions.js', 'node_modules/fastify/lib/errors.js']
}

const sample = <T>(questions: readonly T[]): T[] => questions.filter((_, position) => position % SAMPLE_INTERVAL === 0)

/** Also says what was not understood of a question about a table. */
const REFUSAL = /^(?:I found no answer in|This is a question about .* (?:I cannot compute it|the table does not answer it)\.)/
export const isRefusal = (answer: string): boolean => REFUSAL.test(answer)

/** Lists passages instead of an answer. */
const isNotice = (answer: string): boolean => isRefusal(answer) || answer.startsWith('Comparing, calculating and summarizing need')

/** Returns the first quoted sentence; excerpts of passages without an answer do not count. */
export function getQuote(answer: string): string {
  return isNotice(answer) ? '' : (/“([\s\S]*?)” \[\d+\]/.exec(answer)?.[1] ?? '')
}

/** Returns everything that is shown as the answer: the short answer, the quote and blocks. */
export const getShownAnswer = (answer: string): string => (isNotice(answer) ? '' : answer)

/** Compares without white space and Markdown, because an answer may stand in formatted text. */
export function containsAnswer(text: string, answers: readonly string[]): boolean {
  const normalized = normalize(text)
  return answers.some((answer) => normalized.includes(normalize(answer)))
}

/** Answers contain word joiners in the document's own numbers in brackets. */
const normalize = (text: string) =>
  text
    .replaceAll(/[`*_\u2060]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim()
