/** Puts the item of a follow-up question, such as "and of chairs?", into the question before it. */

const LEAD = new RegExp(
  String.raw`^\W*(?:and|or|but|what about|how about|und|oder|aber|was ist mit|wie (?:ist|sieht|steht) es (?:mit|bei)|wie wäre es mit)\s+` +
    String.raw`(?:what about\s+|was ist mit\s+)?([^?？]{1,80}?)[\s?？.!]*$`,
  'iu',
)
/** A longer follow-up is a question of its own. */
const MAX_FOLLOW_UP_LENGTH = 150
/** A longer text is pasted, and no question to put something else into. */
const MAX_PREVIOUS_LENGTH = 2_000
const PREPOSITIONS =
  'about after at before between by during for from in into on of per than to under with within without ' +
  'an auf aus bei für im mit nach ohne pro von vom vor zu zum zur über'
const DETERMINERS = 'a an my our the their this your das dem den der des die ein eine einem einen einer eines mein meine unser unsere'
/** Verbs and question words: what contains one is a question of its own, and they end a phrase. */
const VERBS =
  'am are can could did do does get gets had has have is may must shall should was were will would how what when where which who why ' +
  'bekommt bekomme darf gibt gilt haben hat ist kann kostet muss sind soll war werden wird wann warum was welche welcher welches wer wie wo'
const list = (words: string) => `(?:${words.replaceAll(' ', '|')})`
const STARTS_WITH_PREPOSITION = new RegExp(`^${list(PREPOSITIONS)}\\s`, 'iu')
const STARTS_WITH_DETERMINER = new RegExp(`^${list(DETERMINERS)}\\s`, 'iu')
const CONTAINS_VERB = new RegExp(`(?<![\\p{L}-])${list(`${VERBS} it its they them es sie`)}(?![\\p{L}-])`, 'iu')
/** A word that continues a phrase. */
const WORD = `(?!${list(`${PREPOSITIONS} ${VERBS} and or und oder`)}(?![\\p{L}\\p{N}-]))[^\\s?？,;]+`
const PHRASE = `(?:${WORD})(?:\\s+${WORD}){0,3}`
const CODE =
  /(?<![\p{L}\p{N}])(?=[\p{L}._/-]*\d)[\p{L}\p{N}]+(?:[-._/][\p{L}\p{N}]+)*|`[^`\n]+`|--?[a-z][\w-]+|\b[a-z]+[A-Z]\w*|\b\w+_\w+/gu
/** "E8?" */
const ONLY_CODE = new RegExp(`^\\W*(${CODE.source})[\\s?？.!]*$`, 'u')
const NAME = /(?<=[\p{L}\p{N},]\s+)\p{Lu}[\p{L}\p{N}&-]+(?:\s+\p{Lu}[\p{L}\p{N}&-]+)*/gu

/** Returns what a follow-up question such as "And part-timers?" adds. Undefined if it is a question of its own. */
export function readAddition(followUp: string): string | undefined {
  const text = followUp.trim()
  const item = text.length > MAX_FOLLOW_UP_LENGTH ? undefined : LEAD.exec(text)?.[1]?.trim()
  return item === undefined || CONTAINS_VERB.test(item) ? undefined : item
}

/** Returns undefined if the follow-up does not only name another item, or the question before has none. */
export function replaceItem(previous: string, followUp: string): string | undefined {
  if (previous.length > MAX_PREVIOUS_LENGTH) return undefined
  const item = readAddition(followUp)
  if (item === undefined) return replaceLast(previous, CODE, ONLY_CODE.exec(followUp)?.[1])
  return (
    replaceLast(previous, CODE, item.match(CODE)?.at(-1)) ??
    (STARTS_WITH_PREPOSITION.test(item) ? replacePrepositional(previous, item) : undefined) ??
    (STARTS_WITH_DETERMINER.test(item) ? replaceDetermined(previous, item) : undefined) ??
    replaceLast(previous, NAME, /^\p{Lu}/u.test(item) ? item : undefined) ??
    addPeople(previous, item) ??
    replaceBare(previous, item)
  )
}

function replaceLast(previous: string, pattern: RegExp, replacement: string | undefined): string | undefined {
  const last = replacement === undefined ? undefined : [...previous.matchAll(pattern)].at(-1)
  return last && replaceAt(previous, last.index, last[0].length, replacement as string)
}

/** Replaces the phrase with the same preposition, or adds it to the end. */
function replacePrepositional(previous: string, item: string): string {
  const [preposition = ''] = item.split(/\s/)
  const last = [...previous.matchAll(new RegExp(`(?<=\\s)${preposition}\\s+${PHRASE}`, 'giu'))].at(-1)
  return last ? replaceAt(previous, last.index, last[0].length, item) : append(previous, item)
}

/** Replaces the last phrase with a determiner: "the lamp" in "How much does the lamp cost?". */
function replaceDetermined(previous: string, item: string): string | undefined {
  const last = [...previous.matchAll(new RegExp(`(?<=\\s)${list(DETERMINERS)}\\s+${PHRASE}`, 'giu'))].at(-1)
  if (!last) return undefined
  // The verb at the end belongs to the one before the phrase: does … cost, wird … verschickt.
  const hasVerb = new RegExp(
    `${list('can did do does may must shall should will would is are was were wird werden kann darf muss')}\\s+$`,
    'iu',
  )
  const isFollowed = /[\p{L}\p{N}]/u.test(previous.slice(last.index + last[0].length))
  const words = last[0].split(/\s+/)
  const kept = !isFollowed && words.length > 2 && hasVerb.test(previous.slice(0, last.index)) ? ` ${words.at(-1)}` : ''
  return replaceAt(previous, last.index, last[0].length, `${item}${kept}`)
}

const AFTER_PREPOSITION = new RegExp(`(?<=\\s${list('about by for from in of on with bei für mit von zu')}\\s+)${PHRASE}`, 'giu')
const PRONOUNS = 'i we you it they he she es ich wir'
const SUBJECT = new RegExp(
  `(?<=\\s${list('are do does is ist kostet sind was were')}\\s+)(?!${list(`${DETERMINERS} ${PRONOUNS}`)}\\s)${WORD}`,
  'iu',
)

/** "part-timers" are not another kind of leave. */
const PEOPLE =
  '(?:part-timers|full-timers|adults|apprentices|children|contractors|customers|employees|families|fathers|foreigners|freelancers|guests' +
  '|interns|kids|managers|members|men|mothers|newcomers|owners|parents|pensioners|people|residents|seniors|staff|students|teachers|temps' +
  '|tenants|trainees|visitors|volunteers|women|workers)'
const ENDS_WITH_PEOPLE = new RegExp(String.raw`(?:^|[\s-])${PEOPLE}$`, 'iu')
const SOME_PEOPLE = new RegExp(String.raw`(?<![\p{L}-])${PEOPLE}(?![\p{L}-])`, 'giu')

/** Puts people in the place of others, or adds them to a question for which the answer may be another one. */
function addPeople(previous: string, item: string): string | undefined {
  if (!ENDS_WITH_PEOPLE.test(item)) return undefined
  return replaceLast(previous, SOME_PEOPLE, item) ?? (/\sfor\s/i.test(previous) ? undefined : append(previous, `for ${item}`))
}

/** Replaces what follows the last preposition, or the subject: "breakfast" in "When is breakfast served?". */
function replaceBare(previous: string, item: string): string | undefined {
  const last = [...previous.matchAll(AFTER_PREPOSITION)].at(-1) ?? SUBJECT.exec(previous)
  return last ? replaceAt(previous, last.index, last[0].length, item) : undefined
}

const append = (question: string, words: string) => `${question.replace(/(?<![\s?？.!])[\s?？.!]+$/u, '')} ${words}?`

const replaceAt = (text: string, start: number, length: number, replacement: string) =>
  `${text.slice(0, start)}${replacement}${text.slice(start + length)}`
