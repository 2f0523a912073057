/** Recognizes values in English text: quantities, times, prices, measures, addresses, people. */
const list = (words: string) => String.raw`\b(?:${words.trim().replaceAll(/\s+/g, '|')})\b`

const NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen ' +
  'twenty thirty forty fifty sixty seventy eighty ninety hundreds? thousands? millions? billions? dozen half twice once quarters?'
/** A number in digits or words, before its unit. */
const AMOUNT = String.raw`(?:\d[\d.,]*|${list(NUMBERS)})\s*`

/** "16" and "5kg" are quantities; "'databases'-1", "GPT-4" and "3signals" are not. */
const DIGITS = String.raw`(?<![\p{L}'’_]-\d*)\d+(?!\d|\p{L}{4})`
export const QUANTITY = new RegExp(`${DIGITS}|${list(String.raw`${NUMBERS} no(?!\.) none nothing free unlimited all full`)}`, 'iu')
/** A number of things: neither an amount of money nor part of a name. */
export const COUNT = new RegExp(
  String.raw`(?<!\p{Sc}[\d.,]*)${DIGITS}(?!\p{L})|` +
    list(String.raw`${NUMBERS} no(?!\.) none nothing unlimited both pair couple single any`),
  'iu',
)
/** A code such as "CZ-204" is a number, but no quantity. */
export const NUMBER = new RegExp(`\\d|${QUANTITY.source}`, 'iu')
/** A number with the two words after it. */
export const COUNTED = new RegExp(String.raw`(?<![\p{L}\p{N}.,])(?:\d+(?:[.,]\d+)*|${list(NUMBERS)})\s*(\p{L}+|%)?(?:\s+(\p{L}+))?`, 'giu')
export const TIME = new RegExp(
  `${DIGITS}|${list(
    `${NUMBERS} first second third fourth last next
    january february march april may june july august september october november december
    mondays? tuesdays? wednesdays? thursdays? fridays? saturdays? sundays? weekdays? weekends? spring summer autumn fall winter
    today tomorrow yesterday noon midnight mornings? afternoons? evenings? nights? immediately now always never forever indefinitely
    hourly daily weekly monthly quarterly annually yearly every each after before until during when while within by upon since
    seconds? minutes? hours? days? weeks? months? years? quarters? decades? century centuries start beginning end early late time`,
  )}`,
  'iu',
)
/** The unit may be in the header of a table. */
const createMeasure = (units: string) => new RegExp(String.raw`(?:${AMOUNT}|\()(?:${units})(?![\p{L}\d])`, 'iu')
export const WEIGHT = createMeasure('[km]?g|lbs?|oz|t|(?:kilo)?grams?|kilos?|pounds?|ounces?|tonn?es?|tons?')
export const LENGTH = createMeasure(
  `[mck]?m|in|ft|yd|(?:milli|centi|kilo)?met(?:er|re)s?|miles?|feet|foot|inch(?:es)?|yards?|stor(?:ey|eys|y|ies)|floors?|["”″'’′]`,
)
export const PERCENTAGE = /%|\bper\s?cent\b|\b(?:half|third|quarter|none|zero)\b/iu
const CODES = '(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR)'
const CURRENCY =
  String.raw`\p{Sc}|\b${CODES}\s?\d|${AMOUNT}(?:${CODES}|kr` +
  String.raw`|(?:\p{L}+\s)?(?:dollars?|euros?|pounds?|pence|cents?|francs?|crowns?|yen))\b`
/** A number without a unit: tables and forms often omit the currency. */
const BARE_NUMBER = String.raw`(?<![\p{L}\d-])\d[\d.,]*\s*(?:[|;)]|$|[.,](?!\d))`
export const PRICE = new RegExp(
  String.raw`${CURRENCY}|%|${BARE_NUMBER}|\p{L}s?['’]s?\s(?:\p{L}+\s)?(?:rent|pay|salary|wages?|fees?)\b` +
    String.raw`|\b(?:free|nothing|no(?!\.)|none|half|double|twice|full|all|per\s?cent|reimbursed)\b`,
  'imu',
)
export const PHONE_NUMBER = /\d(?:[\s()./–-]*\d){2,}/u
export const EMAIL_ADDRESS = /\S@\S/u
export const ENVIRONMENT_VARIABLE = /(?<![\p{L}\d])(?:[A-Z][A-Z\d]*_[A-Z\d_]+|[A-Z]{4,}(?!\p{L}))/u
/** Nouns of people and groups, by their endings or as words. */
export const PERSON = new RegExp(
  String.raw`\p{Lu}|\p{L}{2}(?:er|or|ist|ant|ent|ee|ian|man|men)s?\b|${list(
    `people person persons parents? child children team teams group committee board body company department office staff government
    court council chair head lead user users guest guests we you they i it everyone anyone everybody anybody nobody someone`,
  )}`,
  'u',
)
export const REASON = new RegExp(
  list(
    `because since as for so to due owing thanks reasons? therefore thus hence otherwise or else if
    causes? caused prevents? avoids? means? allows? makes? leads? would will must cannot`,
  ),
  'iu',
)
