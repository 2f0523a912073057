/** Detects what a question asks for: a list, steps, options, a value, yes or no, or what quoting cannot answer. English and German. */
import { extractContentWords } from '../../../language/content-words.ts'

const SUMMARY_REQUEST = /^\W*(?:(?:please|(?:can|could|would|will)\s+you)\s+)*(?:compare|summari[sz]e|outline)\b/iu
/** "Which command shows an overview?" asks for the command, and "Does it work in VS Code?" compares nothing. */
const SUMMARY = new RegExp(
  String.raw`\b(?:how\s+(?:do|does)\b.*\bcompare|compar(?:ed|ing|ison)|differences? between|differ(?:s|ent)? from` +
    '|pros and cons|advantages and disadvantages|main points|key points|tl;?dr' +
    String.raw`|(?<!\b(?:for|from|in|of|on|the|to|use|using|with)\s)(?:versus|vs\.?(?!\s*code\b))` +
    String.raw`|vergleich\w*|unterschied\w*|zusammenfass\w*|überblick)(?!\w)` +
    String.raw`|^(?!\W*(?:which|where|when|who|whose|why|how|can|do|does|did|is|are)\b).*\b(?:summary|overview|outline)(?!\w)`,
  'iu',
)
const ADJECTIVES = '(?:expensive|costly|popular|powerful|accurate|efficient)'
const COMPARATIVES = [
  'cheaper|larger|bigger|smaller|higher|lower|longer|shorter|older|newer|younger|faster|slower|heavier|lighter|better|worse',
  `(?:more|less) ${ADJECTIVES}`,
  'günstiger|billiger|teurer|größer|kleiner|höher|niedriger|länger|kürzer|älter|neuer|jünger|schneller|langsamer|schwerer|leichter|besser',
].join('|')
const SUPERLATIVES = [
  'cheapest|largest|biggest|smallest|highest|lowest|longest|shortest|oldest|newest|youngest|latest|earliest|fastest|slowest|heaviest',
  `lightest|best|worst|(?:most|least) ${ADJECTIVES}|how many|count|total|average|wie viele|anzahl|gesamt\\w*`,
  '(?:günstig|billig|teuer|größ|klein|höch|niedrig|läng|kürze|ält|neue|jüng|schnell|langsam|schwer|leichte|be)ste\\w*',
].join('|')
/**
 * Only a choice compares: "Can I get a larger screen?" does not, nor do "Which error is shown if a file is larger than that?" and
 * "Which option falls back to the older protocol?"
 */
const CHOICE = new RegExp(
  String.raw`^\W*(?:which|what|who|welche[rsnm]?|was|wer)\b(?:(?!\b(?:if|when|while|unless|wenn|falls)\b).)*` +
    String.raw`(?<!\w)(?<!\b(?:by|for|from|in|into|of|on|than|to|with)\s+(?:the|an?)\s+)(?:${COMPARATIVES})(?!\w)` +
    String.raw`|(?<!\w)(?:${COMPARATIVES})(?!\w).*\b(?:or|oder)\b`,
  'iu',
)
const CALCULATION = new RegExp(
  String.raw`\b(?:in total|altogether|on average|(?:the|an) average|sum of|add up` +
    String.raw`|total (?:price|costs?)(?= .*\b(?:with|including|plus)\b)` +
    String.raw`|insgesamt|im durchschnitt|durchschnittlich\w*|im schnitt|summe|zusammengerechnet)(?!\w)`,
  'iu',
)
/** A row cannot tell that it has the largest value, or how many rows there are. */
const SUPERLATIVE = new RegExp(String.raw`(?<!\w)(?:${SUPERLATIVES})(?!\w)`, 'iu')

const TERM = new RegExp(`${COMPARATIVES}|${CALCULATION.source}|${SUPERLATIVE.source}`, 'giu')

const ABOUT_COMPARISON = /^\W*(?:where|when|who|whose)\b(?!.*\b(?:compared|differ\w*|versus|vs)\b).*\bcomparisons?\b/iu

/** "How do I compare two files?" and "Where does the comparison data come from?" ask for no comparison. */
export const asksForSummary = (question: string): boolean =>
  SUMMARY_REQUEST.test(question) || (SUMMARY.test(question) && !ABOUT_COMPARISON.test(question) && readAction(question) === undefined)

/**
 * Whether the question compares or calculates. A sentence that says it, such as "The largest file allowed is …", answers it anyway,
 * and so does a record that the question names.
 */
export function asksForCalculation(question: string, answer: { text: string; isRecord: boolean; isNamedRecord: boolean }): boolean {
  const task = (CHOICE.exec(question) ?? CALCULATION.exec(question) ?? (answer.isRecord ? SUPERLATIVE.exec(question) : null))?.[0]
  if (task === undefined) return false
  const terms = [...task.matchAll(TERM)].map(([term]) => term)
  const words = new Set(extractContentWords(answer.text))
  const saysIt = terms.some((term) => extractContentWords(term).some((word) => words.has(word)))
  return !saysIt && !(answer.isNamedRecord && !CHOICE.test(question))
}

/** "List all …", "What are the five levels?", "Which states have …?" A noun in the plural ends in s, but not in ss, us or is. */
const PLURAL = String.raw`(?:\p{L}+[^sui\W\d_]s|people|children|men|women|criteria|\p{L}*data)`
const LIST = new RegExp(
  String.raw`^\W*(?:please\s+)?(?:(?:list|enumerate|name)\s|(?:give|show|tell)\s+(?:me\s+)?(?:all|the list|a list)\b)` +
    String.raw`|^\W*(?:what|which|who)\s+(?:all\s+)?are\s+(?!you\b|we\b|they\b)` +
    String.raw`|^\W*(?:in\s+|for\s+|on\s+|to\s+)?(?:what|which)\s+(?:[\p{L}\p{N}.-]+\s+){0,2}?${PLURAL}\s+` +
    String.raw`(?:are|were|do|does|did|can|could|have|had|must|may|might|should|shall|will|would|exist|need|apply|belong|of|in|for)\b` +
    String.raw`|^\W*(?:what|which)\s+\p{L}*data\s+is\b`,
  'iu',
)

const PLURAL_NOUN = new RegExp(`^${PLURAL}$`, 'iu')

export const isPlural = (noun: string): boolean => PLURAL_NOUN.test(noun)

export const asksForList = (question: string): boolean => LIST.test(question)

const LISTED_NOUN = new RegExp(
  String.raw`^[^\p{L}\p{N}_]*(?:\p{L}+\s+)?(?:what|which|list|enumerate|name|all)\s+` +
    String.raw`(?:(?!(?:do|does|did|can|could|may|must|should|will|would)\b)` +
    String.raw`[\p{L}\p{N}.'’-]+\s+){0,4}?(${PLURAL})(?!\p{L})`,
  'iu',
)

/** Returns the noun in the plural that a list is asked for, but not that of "What do users need?" */
export const readListedNoun = (question: string): string | undefined => LISTED_NOUN.exec(question)?.[1]

const YES_OR_NO = /^(?:am|are|can|could|did|do|does|has|have|is|may|might|must|should|was|were|will|would)\b/i

export const asksYesOrNo = (question: string) => YES_OR_NO.test(question.trim())

const QUESTION_WORD = /^\W*(?:how|what|when|where|which|who|whom|whose|why)\b/i

/** The reading model was trained with question marks, and reads "May guests use it" as a topic. */
export const completeQuestion = (text: string): string =>
  (QUESTION_WORD.test(text) || asksYesOrNo(text)) && /[\p{L}\p{N})]\s*$/u.test(text) ? `${text.trimEnd()}?` : text

/** "How do I …", "how to …", "I …, how does that work?": code shows what to do. */
const HOW =
  /(?:^\W*|[,;:.!]\s+)(?:how\s+(?:do|does|can|could|should|would|must|to)|wie\s+(?:kann|könn\p{L}*|muss|müss\p{L}*|soll\p{L}*))\s/iu

export const asksHow = (question: string): boolean => HOW.test(question)

const OPTIONS = /(?<![\p{L}-])(?:options|flags|switches|optionen|schalter)(?!\p{L})/iu

export const namesOptions = (text: string): boolean => OPTIONS.test(text)

const WHAT_TO_DO =
  /^\W*(?:what\s+(?:do|should|must|can)\s+(?:i|we|you)\s+(?:have\s+to\s+)?do|was\s+(?:muss|soll|kann)\s+(?:ich|man)\b.*\btun)\b/iu

export const asksForSteps = (question: string): boolean => asksHow(question) || WHAT_TO_DO.test(question)

const ACTION = new RegExp(
  String.raw`\b(?:how\s+(?:do|can|could|should|would|must)\s+(?:i|we|you|one)|how\s+to` +
    String.raw`|^[^\p{L}\p{N}_]*(?:(?:what|which)\s+are\s+|(?:list|show|give|tell)\s+(?:me\s+)?)?(?:the\s+)?steps\s+(?:to|for))\s+(\p{L}+)`,
  'iu',
)

/** Returns the verb of "How do I clean …?", "how to clean …" and "What are the steps to clean …?" */
export const readAction = (question: string): string | undefined => ACTION.exec(question)?.[1]

const NEGATION = String.raw`(?:\b(?:not|never|forbidden|prohibited|cannot|excluded|exempt)\b|n['’]t\b)`
const ASKS_FOR_NEGATION = new RegExp(
  `^\\W*(?:what|which|who|list|name)\\b(?:(?!\\b(?:if|when|while|because|unless)\\b)[^,;])*?${NEGATION}`,
  'iu',
)
const NEGATION_OR_NONE = new RegExp(`${NEGATION}|\\b(?:no|none|nobody|nothing|without|except)\\b`, 'iu')

/** "What is not allowed?" */
export const asksForNegation = (question: string): boolean => ASKS_FOR_NEGATION.test(question)

export const containsNegation = (text: string): boolean => NEGATION_OR_NONE.test(text)

const ASKS_FOR_VALUE = new RegExp(
  String.raw`^\W*(?:(?:for|since|until|from|to|by|at|in|after|within)\s+)?` +
    String.raw`(?:how\s+(?!(?:do|does|can|could|should|would|must|to)\b)\p{L}+|who|when|where)\b`,
  'iu',
)

/** "How many …", "who …", "when …": a few words of a sentence answer it. */
export const asksForValue = (question: string): boolean => ASKS_FOR_VALUE.test(question)

const NO_CODE = /^\W*(?:why|which\s+(?!(?:[\p{L}-]+\s+)?(?:commands?|code|calls?|lines?|examples?|functions?|methods?)\b))/iu

/** Neither "Who …", "Which port …" nor a question for yes or no is answered by code alone. */
export const mayAskForCode = (question: string): boolean => !NO_CODE.test(question) && !asksForValue(question) && !asksYesOrNo(question)
