/** Words of questions and headers that mean the same. */
import { stem } from '../language/content-words.ts'

const MIN_ROOT_LENGTH = 5
const MAX_ENDING_LENGTH = 3

/** Words of questions and headers that mean the same in tables. */
const SYNONYMS = `
amount total sum value price cost spend spent expense paid worth fee charge budget
cost spend spent expense price
revenue sales turnover income earnings
total value worth cost expensive
amount value expensive cheapest money
price money
total revenue sales turnover sell sold spend spent pay paid
amount revenue sales turnover sell sold
sales sell sold selling
revenue value
customer client buyer account
employee staff person worker member people personnel colleague headcount
headcount people staff person
staff people person worker colleague personnel team
team employee crew
salary pay wage earn compensation
wage pay earn
country nation
city town location place where venue
location venue stadium site ground located based
city located based
date when day
year when season built
name who title person
player who name athlete
winner won win champion
opponent versus against team rival
film movie title
song track title single
nation country
height tall tallest taller
length long distance longest shortest
size area space large largest larger small smallest smaller big biggest bigger
area space large largest larger small smallest smaller big biggest bigger
unit apartment flat
age old oldest youngest older younger
price expensive cheapest cheaper cost
cost expensive cheapest cheaper
fee price cost expensive cheapest cheaper
rent expensive cheapest cheaper
distance long longest shortest length far farthest
consumption consume consumed use used usage electricity energy
gross salary pay wage earn
score grade mark
cost charge charged
delayed late
duration long longest shortest length
weeks long longest shortest
days long longest shortest longer shorter time duration length stay wait
hours long longest shortest
minutes long longest shortest
nights long longest shortest stay length duration
population people inhabitants
points score scored
attendance attended crowd people spectators
attended attendance people visitors
visitors people guests
participants people
enrolled people
position rank place finish finished
notes comments remarks
department division team unit
product item article sku
description item product article name
quantity units pieces sold stock
stock hand inventory available quantity left
supplier vendor
order purchase
dropped bring brought
brought bring
invoice bill
due deadline
end due deadline
category type kind group
status state
owner responsible assignee assigned
assigned agent assignee handled responsible owner
manager boss lead report supervisor
started start begin hired joined
hired joined employed started since longest
hire longest hired joined
since joined
joined longest
ended end finish
shipped sent dispatched left departed
delivered arrived
sold sale
contact touch spoken heard talked
received deliver delivered delivery arrive arrived
speed fast fastest slowest
temp coldest warmest hottest cold warm hot temperature
temperature coldest warmest hottest cold warm hot
weight heavy heaviest lightest
depth deep deepest
width wide widest
abv alcohol strong strongest
arrears owe owes owed owing debt outstanding
balance owe owes owed outstanding
owed owe owes owing debt
debt owe owes
birth born
maintenance maintained serviced
`

/** Returns the stems of words that may mean the same as a stem. */
const SYNONYM_STEMS: ReadonlyMap<string, ReadonlySet<string>> = buildSynonyms()

function buildSynonyms(): Map<string, Set<string>> {
  const related = new Map<string, Set<string>>()
  for (const line of SYNONYMS.trim().split('\n')) {
    const [head = '', ...others] = line.split(' ').map(stem)
    for (const other of others) {
      related.set(head, (related.get(head) ?? new Set()).add(other))
      related.set(other, (related.get(other) ?? new Set()).add(head))
    }
  }
  return related
}

/** Words with the same root, such as "renew" and "renewal", count as well. */
export const areSynonyms = (first: string, second: string): boolean => {
  if (SYNONYM_STEMS.get(first)?.has(second)) return true
  const length = Math.max(MIN_ROOT_LENGTH, first.length - MAX_ENDING_LENGTH, second.length - MAX_ENDING_LENGTH)
  return first.length >= length && second.length >= length && first.slice(0, length) === second.slice(0, length)
}

/** What units are called: all words of a line mean the same. */
const UNIT_NAMES = `
km kms kilometres kilometers kilometre kilometer
m metres meters
m² m2 sqm qm metres meters
kg kilograms kilos kilogram kilo weight
g grams gram weight
kwh kilowatt
l ltr litres liters litre liter
min mins minutes
h hr hrs hours
pcs pc pieces piece units items
month monthly
year yearly annual
week weekly
day daily
`
const NAMES_BY_UNIT: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  UNIT_NAMES.trim()
    .split('\n')
    .map((line) => line.split(' '))
    .flatMap((names) => names.flatMap((name) => (name === 'weight' ? [] : [[name, new Set(names)] as const]))),
)

/** "Distance (km)", "dur_min" */
const UNIT_OF_HEADER = /\(([^)]*)\)\s*$|(?:^|[ _])(?!(?:month|year|week|day)(?:ly)?$)(\p{L}+[²2]?)$/iu
/** "Monthly fee", "annual_rent" */
const PERIODICAL = /(?<![a-z])(?:monthly|yearly|annual|weekly|daily)(?![a-z])/i
const getPeriod = (word: string): string => (/annual/i.test(word) ? 'year' : word.toLowerCase().replace('dai', 'day').replace(/i?ly$/, ''))

/** Returns the words for the units of a header and of its numbers, and the units themselves. */
export function listUnitNames(header: string, unitOfNumbers: string): Set<string> {
  const unit = UNIT_OF_HEADER.exec(header)
  const units = [...(unit?.[1] ?? unit?.[2] ?? '').split('/'), unitOfNumbers, ...(PERIODICAL.exec(header) ?? []).map(getPeriod)]
  const isUnit = (name: string) => NAMES_BY_UNIT.has(name) || unit?.[2] === undefined
  return new Set(
    units.map((name) => name.trim().toLowerCase()).flatMap((name) => (isUnit(name) ? [...(NAMES_BY_UNIT.get(name) ?? [name])] : [])),
  )
}

const SHORTER_THAN_DAYS: readonly string[] = ['min', 'mins', 'minutes', 'h', 'hrs', 'hours']

/** "How many days" does not ask for "Duration (min)". */
export const isOtherUnit = (word: string, units: ReadonlySet<string>): boolean =>
  (word === 'days' || word === 'weeks') && SHORTER_THAN_DAYS.some((unit) => units.has(unit))
