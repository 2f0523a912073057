/** Decides whether a quoted sentence answers a question with yes or no. English. */
import { extractContentWords } from '../../language/content-words.ts'
import { expandQuery } from '../../language/expand-query.ts'
import { stripMarkdown } from '../../language/parse-markdown.ts'
import { asksYesOrNo } from './question/detect-question-type.ts'

type Verdict = 'Yes' | 'No' | 'It depends'

const NEGATION = /\b(?:no|not|never|none|nobody|nothing|neither|nor|cannot|without|forbidden|prohibited|ineligible|unable)\b|n['’]t\b/i
/** Negations that do not deny what the sentence says. */
const NO_NEGATION = /\b(?:not only|no (?:later|more|less|fewer) than|not (?:later|more|less|fewer) than|whether or not|no matter)\b/gi
const DENIED = new RegExp(
  String.raw`\b(?:can|may|must|could|should|shall|will|is|are|do|does)\s*(?:not|n['’]t)\b|\bcannot\b|\bnever\b|\bnobody\b` +
    String.raw`|\bnot (?:be )?(?:allowed|permitted|entitled|eligible|possible|supported|able)\b|\b(?:prohibited|forbidden|ineligible)\b` +
    String.raw`|\bno \p{L}+ (?:may|can|shall|is|are)\b`,
  'iu',
)
const CONDITION = new RegExp(
  String.raw`\b(?:if|unless|except|only|provided|depend(?:s|ing)|subject to|as long as|discretion|case[- ]by[- ]case|sometimes|until` +
    '|when|where|within|up to|at most' +
    String.raw`|(?:with|without|prior|after|needs?) (?:\p{L}+ ){0,3}(?:approval|consent|permission|agreement))\b`,
  'iu',
)
const CONTRAST = /\b(?:but|however|instead|unlike|whereas|while|although)\b/i
const ALLOWED = /\b(?:can|may|could|allowed|permitted|entitled|eligible|free to|welcome to|able to|possible|supports?|supported)\b/i
const REQUIRED = /\b(?:must|required?|requires|mandatory|obliged|obligatory|needs? to|ha(?:s|ve) to|shall)\b/i
const OPTIONAL =
  /\b(?:optional|voluntary|need not|no need|not (?:required|mandatory|necessary|obliged)|(?:do|does)(?: not|n['’]t) (?:need|have) to)\b/i
const ASKS_PERMISSION = /^\W*(?:can|may|could)\b|\b(?:allowed|permitted|entitled|eligible|possible|able|ok|okay)\b/i
const ASKS_OBLIGATION = /^\W*(?:must|should|shall)\b|\b(?:have to|has to|needs? to|required|mandatory|obliged|necessary|obligatory)\b/i
/** Words of questions that ask for permission or obligation: the sentence may say it in other words. */
const MODAL_WORDS = new Set(
  extractContentWords(
    'allowed permitted entitled eligible possible able ok okay required mandatory obliged necessary obligatory need get there',
  ),
)
const ON = '(?:on|enabled|active|activated)'
const OFF = '(?:off|disabled|inactive|deactivated)'
const ASKS_STATE = new RegExp(`\\b(?:(${ON})|${OFF}) by default\\W*$`, 'i')
const VALUE = `(?:(true|${ON}|yes)|false|${OFF}|no)`
/** "Off by default" and "Default: false" settle it, but not "no longer on by default" or "the default is no limit". */
const STATE = new RegExp(
  `\\b(?:(${ON})|${OFF}) by default\\b|\\bdefaults?(?: value)?(?: is| to|:| =)\\s*["'(]?${VALUE}\\b(?!\\s+\\p{L})`,
  'giu',
)
const OTHER_TIME = /\b(?:was|were|used to|before|until|since|no longer|unlike)\b/i
/** "Default: false" of --no-cache or disableLogging says the opposite about the cache and the log. */
const OPPOSITE_NAME = /\bno-\p{L}|\b(?:disable|disallow|skip|ignore|without)(?:[-_]|\p{Lu})|--(?:disable|disallow|skip|ignore|without)/u
/** "Is the deposit paid?", "Have the invoices been sent?" */
const STATE_REACHED =
  /^\W*(?:is|are|was|were|has|have)\b.*\b(\p{L}+ed|paid|sent|sold|built|made|done|given|taken|written|bought|signed)\W*$/iu
/** "… instead of butter, but not with oil" */
const EXCEPTION = /\bbut not\s+(?:(?:with|for|in|on|at|by|to|from|of)\s+)?((?:\p{L}+\s+){0,2}?\p{L}+)/giu
/** Only a sentence with most of the question's words is about the same case. */
const MIN_COVERAGE = 0.6
/** Also the end of a heading above a paragraph. */
const SENTENCE_END = /(?<=[.!?])\s+|(?<![\s.!?,;:])\n\s*(?=\p{Lu})/u
const CLAUSE_END = /;\s+/
const NUMBER = /(?<![\p{L}\p{N}.,-])(\d+(?:[.,]\d+)?)\s*(%|\p{L}+)?/u
const LIMIT = new RegExp(
  String.raw`\b(up to|at most|maximum(?: of)?|max\.?|(?:no|not) more than|limited to|at least|minimum(?: of)?|min\.?)` +
    String.raw`\s+(\d+(?:[.,]\d+)?)\s*(%|\p{L}+)?`,
  'iu',
)

/** Returns undefined if the quote does not settle the question. Headings above it may name what it is about. */
export function answerYesOrNo(question: string, quote: string, headings: readonly string[] = []): Verdict | undefined {
  if (!asksYesOrNo(question) || NEGATION.test(question) || /\bor\b/i.test(question)) return undefined
  const sentence = stripMarkdown(quote)
  const coverage = computeCoverage(question, [sentence, ...headings].join('\n'))
  if (coverage < MIN_COVERAGE || /[?？:]\W*$/.test(sentence)) return undefined
  if (NUMBER.test(question)) return compareWithLimit(question, sentence)
  if (ASKS_STATE.test(question)) return compareStates(question, sentence, headings)
  const removeFalseNegations = (part: string) => part.replaceAll(NO_NEGATION, '')
  const text = removeFalseNegations(sentence)
  // "It runs on Bun; Deno is not supported" says nothing against Bun.
  const clause = text.split(CLAUSE_END).find((each) => computeCoverage(question, [each, ...headings].join('\n')) === coverage) ?? text
  if (ASKS_OBLIGATION.test(question)) return OPTIONAL.test(clause) ? 'No' : decide(clause, text, REQUIRED)
  if (ASKS_PERMISSION.test(question)) return isException(question, clause) ? 'No' : decide(clause, text, ALLOWED)
  // A fact needs the same words in one sentence: other verbs may say something else, and so may the sentence before it.
  const sentences = quote.split(SENTENCE_END).flatMap((part) => stripMarkdown(part).split(CLAUSE_END))
  const stated = sentences.find((each) => computeCoverage(question, [each, ...headings].join('\n')) === 1)
  if (stated === undefined || CONDITION.test(text) || CONTRAST.test(text)) return undefined
  // "The tenant pays a deposit" does not say that it is paid.
  const [, participle] = STATE_REACHED.exec(question) ?? []
  if (participle !== undefined && !stated.toLowerCase().includes(participle.toLowerCase())) return undefined
  return NEGATION.test(removeFalseNegations(stated)) ? 'No' : 'Yes'
}

function isException(question: string, clause: string): boolean {
  const asked = new Set(extractContentWords(question))
  const excepted = [...clause.matchAll(EXCEPTION)].map(([, words = '']) => extractContentWords(words))
  return excepted.some((words) => words.length > 0 && words.every((word) => asked.has(word)))
}

/** The clause is about what was asked; a condition may be anywhere in the text. */
function decide(clause: string, text: string, affirmation: RegExp): Verdict | undefined {
  // "A request without a receipt is not accepted" requires one.
  const [, denied] = /\bwithout\b(.*)/is.exec(clause) ?? []
  if (denied !== undefined && DENIED.test(denied)) return undefined
  if (DENIED.test(clause)) return CONDITION.test(text) ? 'It depends' : 'No'
  if (!affirmation.test(clause)) return undefined
  return CONDITION.test(text) || NEGATION.test(clause) ? 'It depends' : 'Yes'
}

/** "Is it on by default?" */
function compareStates(question: string, sentence: string, headings: readonly string[]): Verdict | undefined {
  const asked = ASKS_STATE.exec(question)
  const [stated, other] = [...sentence.matchAll(STATE)]
  if (!asked || !stated || other) return undefined
  const isUnclear = NEGATION.test(sentence.replace(stated[0], '')) || CONDITION.test(sentence) || OTHER_TIME.test(sentence)
  const isAboutOpposite = [sentence, ...headings].some((text) => OPPOSITE_NAME.test(text)) && !OPPOSITE_NAME.test(question)
  if (isUnclear || isAboutOpposite) return undefined
  return (asked[1] !== undefined) === ((stated[1] ?? stated[2]) !== undefined) ? 'Yes' : 'No'
}

/** "Can I take 30 days?" is settled by "up to 20 days". */
function compareWithLimit(question: string, sentence: string): Verdict | undefined {
  const [, number = '', unit = ''] = NUMBER.exec(question) ?? []
  const [, kind = '', limit = '', limitUnit = ''] = LIMIT.exec(sentence) ?? []
  if (limit === '' || extractContentWords(unit).join() !== extractContentWords(limitUnit).join()) return undefined
  const [asked, allowed] = [number, limit].map((text) => Number(text.replace(',', '.'))) as [number, number]
  return (/least|min/i.test(kind) ? asked >= allowed : asked <= allowed) ? 'Yes' : 'No'
}

/** Returns the share of the question's content words that the text contains, also as synonyms. */
function computeCoverage(question: string, text: string): number {
  const said = new Set(extractContentWords(text))
  const words = question.split(/\s+/).flatMap((word) => {
    const stems = extractContentWords(word).filter((stem) => !MODAL_WORDS.has(stem) && !/^\d/.test(stem))
    return stems.length === 0 ? [] : [[stems, ...expandQuery(word).map(extractContentWords)]]
  })
  const isSaid = (forms: readonly (readonly string[])[]) => forms.some((stems) => stems.length > 0 && stems.every((stem) => said.has(stem)))
  return words.length === 0 ? 0 : words.filter(isSaid).length / words.length
}
