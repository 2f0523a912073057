/** Units beside the numbers of a question: "1500 euros" is an amount of money and no year. */

const CURRENCIES: Readonly<Record<string, string>> = Object.fromEntries(
  ['€ eur euro euros', '$ usd dollar dollars bucks', '£ gbp pound pounds quid'].flatMap((line) => {
    const [sign = '', ...names] = line.split(' ')
    return names.map((name) => [name, sign])
  }),
)

/** Returns the sign of a currency that is written out; other units as they are. */
export const readUnit = (unit: string): string => (Object.hasOwn(CURRENCIES, unit) ? (CURRENCIES[unit] ?? unit) : unit)

export const isCurrency = (unit = ''): boolean => /^\p{Sc}$/u.test(unit)

/** Returns the currency before a number, or the sign or word after it. */
export const findUnit = (text: string, start: number, end: number): string | undefined => {
  const unit =
    /\p{Sc}(?=\s?$)/u.exec(text.slice(Math.max(0, start - 2), start)) ??
    /(?<=^\s?)(?:[%\p{Sc}]|\p{L}{1,12})/u.exec(text.slice(end, end + 14))
  return unit ? readUnit(unit[0].toLowerCase()) : undefined
}

const MEASURE = new RegExp(
  [
    String.raw`^(?:[%\p{Sc}]|chf|francs?|k?m|kilomet\w+|met(?:er|re)s?|miles?|k?g|kilos?|(?:kilo)?grams?|lit(?:er|re)s?|[km]?wh?`,
    'hours?|h|hrs|min(?:ute)?s?|pcs|pieces|units|points|pts|people|guests|visitors)$',
  ].join('|'),
  'u',
)
const QUANTITY = new RegExp(
  [
    '(?:^| )(?:(?:more|less|fewer|greater|larger|higher|lower|bigger|smaller) than|over|above|below|under|at (?:least|most)',
    String.raw`exceed\w*|excess of)(?: a| an| the)?$`,
  ].join('|'),
)

/** Whether a number such as 1500 is an amount: it has a unit, or is compared as amounts are. */
export const isAmount = (words: readonly { text: string; unit?: string }[], index: number): boolean =>
  MEASURE.test(words[index]?.unit ?? '') ||
  QUANTITY.test(
    words
      .slice(Math.max(0, index - 3), index)
      .map(({ text }) => text)
      .join(' '),
  )
