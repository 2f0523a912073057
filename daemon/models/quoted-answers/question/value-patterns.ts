/** Recognizes values in English text: quantities, times, prices, measures, addresses, people. */
const list = (words: string) => String.raw`\b(?:${words.trim().replaceAll(/\s+/g, '|')})\b`

const NUMBERS =
  'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen ' +
  'twenty thirty forty fifty sixty seventy eighty ninety hundreds? thousands? millions? billions? dozen half twice once quarters?'
/** A number in digits or words, before its unit. */
const AMOUNT = String.raw`(?:(?<![\d.,])\d[\d.,]{0,20}|${list(NUMBERS)})\s*`

/** "16" and "5kg" are quantities; "'databases'-1", "GPT-4" and "3signals" are not. */
const DIGITS = String.raw`(?<!\d|[\p{L}'’_]-)\d+(?!\d|\p{L}{4})`
export const QUANTITY = new RegExp(`${DIGITS}|${list(String.raw`${NUMBERS} no(?!\.) none nothing free unlimited all full`)}`, 'iu')
/** A number of things: neither an amount of money nor part of a name. */
export const COUNT = new RegExp(
  String.raw`(?<!\p{Sc}[\d.,]{0,20})${DIGITS}|` + list(String.raw`${NUMBERS} no(?!\.) none nothing unlimited both pair couple single any`),
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
/** A number with its unit, or a unit in the header of a table or before the number. */
const createMeasure = (units: string, headers: string) =>
  new RegExp(
    String.raw`(?:${AMOUNT}[*_]*[\s-]?(?:an?\s|metric\s|square\s)?|\b(?:a|an)\s)(?:${units})(?![\p{L}\d])` +
      String.raw`|(?:[([,:]\s?|\bin\s)(?:${headers})(?![\p{L}\d])`,
    'iu',
  )
export const WEIGHT = createMeasure(
  '[kmµ]?g|lbs?|oz|t|(?:kilo)?gram(?:me)?s?|kilos?|pounds?|ounces?|tonn?es?|tons?|stones?',
  'kg|kilos?|kilograms?|g|grams|lbs?|pounds|tonn?es?',
)
export const LENGTH = createMeasure(
  `[mck]?m|ft|yds?|(?:milli|centi|kilo)?met(?:er|re)s?|miles?|feet|foot|inch(?:es)?|yards?|stor(?:ey|eys|y|ies)|floors?|["″′]`,
  '[mc]?m|met(?:er|re)s|feet|ft|inches',
)
export const PERCENTAGE = new RegExp(
  String.raw`%|\b0[.,]\d|${list('per\\s?cent pct points? half thirds? quarters? fifths? none no zero full all one\\s(?:in|of)')}`,
  'iu',
)
const CURRENCY_CODES =
  'USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|AED|SGD|HKD|KRW|TRY|ILS|RUB|Rs|Kč|kr|zł|Ft|k|p|c|ct'
const CURRENCY_NAMES =
  'dollars?|euros?|pounds?|pence|pennies|penny|cents?|francs?|crowns?|kron(?:a|or|e|er)|yen|yuan|rupees?|zloty|rubles?|pesos?|reais|real'
const CURRENCY =
  String.raw`\p{Sc}|\b(?:${CURRENCY_CODES})\.?\s?\d` +
  String.raw`|${AMOUNT}(?:(?:${CURRENCY_CODES})|(?:\p{L}+\s)?(?:${CURRENCY_NAMES}))(?!\p{L})`
/** A number without a unit: tables and forms often omit the currency. */
const BARE_NUMBER = String.raw`(?<![\p{L}\d.,-])\d[\d.,]{0,20}\s*(?:$|[|;)\]}"”’'*/]|[.,](?!\d)|(?:per|an?|each|for|and|or|plus|extra)\b)`
const SHARE = String.raw`\p{L}+['’]?\s(?:of\s)?(?:\p{L}+\s){0,2}(?:rent|rents|pay|salary|salaries|wages?|fees?|premium|price|cost)\b`
export const PRICE = new RegExp(
  `${CURRENCY}|%|${BARE_NUMBER}|${AMOUNT}(?:${SHARE})|${list(
    `free nothing no(?!\\.) none half double twice full all everything per\\s?cent reimbursed waived gratis complimentary included
    without\\scharge not\\scharged`,
  )}`,
  'imu',
)
export const PHONE_NUMBER = /\d(?:[\s()./–-]*\d){2,}/u
export const EMAIL_ADDRESS = /\S@\S|[([]at[)\]]/iu
export const ENVIRONMENT_VARIABLE = /(?<![\p{L}\d])(?:[A-Z][A-Z\d]*_[A-Z\d_]+|[A-Z]{2,}(?![\p{L}])|[a-z]+(?:_[a-z]+)+)/u
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
    `because since due owing thanks reasons? therefore thus hence otherwise or else if so\\s(?:that|as|they|it|we|you)
    in\\sorder as\\s(?:it|they|we|you|the|this|he|she|an?) to\\s(?:avoid|prevent|make|keep|ensure|protect|save|allow|help) for\\sthe
    causes? caused prevents? avoids? means? allows? makes? leads? would must cannot`,
  ),
  'iu',
)
