/** Words for the roles of people, and for what rows are about. */
import { stem } from '../../language/content-words.ts'
import { toStems, toWords } from '../vocabulary.ts'

/** Words for the rows of a table with a column of people. */
export const PEOPLE_WORDS = toWords('people persons')

/** Last words of the headers of columns with people or companies, for which "who" asks. */
export const PERSON_STEMS = toStems(
  `name customer client buyer employee staff person people member owner manager agent author contact assignee student player supplier
  vendor company user tenant guest patient driver teacher winner leader lead responsible head director instructor trainer tutor host
  rep representative assistant doctor chef donor sponsor applicant volunteer coach nurse technician vet mechanic therapist dentist
  guide pilot captain photographer stylist consultant lawyer engineer architect inspector officer cook baker brewer grower installer
  candidate lender borrower renter hirer lessee reporter reviewer approver seller salesperson speaker artist singer composer`,
)

/** Those of people who pay the owner of a table. */
export const CUSTOMER_STEMS = toStems('customer client guest buyer tenant renter hirer borrower member group')

/** Those of people who work for the owner of a table. */
export const STAFF_STEMS = toStems(
  `employee staff manager agent driver teacher director instructor trainer tutor coach nurse technician mechanic doctor chef assistant
  receptionist cleaner headmaster principal janitor caretaker secretary accountant bookkeeper waiter waitress cashier clerk porter guard
  vet dentist therapist guide pilot captain cook baker engineer lawyer inspector plumber electrician gardener`,
)

/** Those of people from whom things come. */
export const MAKER_STEMS = toStems('artist author composer singer maker producer manufacturer supplier vendor host')

export const SERVED_STEMS = toStems('patient student pupil child candidate applicant donor visitor participant')

/** Words of the headers of columns with the people who do the work. */
export const ASSIGNED_STEMS = toStems('assigned assignee handled responsible lead earner')

/** Verbs for the work that rows are about, which staff do. */
export const WORK_STEMS = toStems(
  `teach taught drive drove driven fly flew flown lead led give gave treat groom repair fix serve see saw handle perform host visit attend
  install paint clean bake brew cook coach train guide sail play deliver process complete finish close write wrote run ran win won solve
  resolve`,
)

/** Verbs for what customers do. */
export const BUYING_STEMS = toStems('owe owes owed owing buy bought order book rent rents rented borrow spend spent')

/** Whether a verb says what the people of a table do. */
export const isWorkOrTrade = (verb: string): boolean => WORK_STEMS.has(verb) || BUYING_STEMS.has(verb)

/** Nouns for people, who are not the rows of a table that only has people in other roles. */
export const PERSON_NOUNS: ReadonlySet<string> = new Set([
  ...STAFF_STEMS,
  ...toStems('actor actress singer dancer musician artist author writer composer producer designer editor owner donor sponsor'),
])

/** Verbs that name a role, with the words for it in headers. */
export const ROLE_VERBS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  [
    ['direct', 'director directed'],
    ['write', 'author writer written'],
    ['compose', 'composer composed'],
    ['design', 'designer designed'],
    ['translate', 'translator translated'],
    ['edit', 'editor edited'],
    ['found', 'founder founded'],
    ['review', 'reviewer reviewed'],
    ['inspect', 'inspector inspected'],
    ['approve', 'approver approved'],
  ].map(([verb = '', headers]) => [stem(verb), toStems(headers)]),
)

/** Last words of the headers of columns with what is sold. */
export const PRODUCT_STEMS = toStems('product item article service title')

/** Words of the headers of columns that say what a numbered row is. */
export const THING_STEMS = toStems('description product item article title')

/** Words for the same kind of rows. */
const ROW_NOUNS = `
patient pet animal
student pupil child kid learner schoolchild
employee staff worker colleague people
vehicle car truck van lorry fleet
booking reservation stay
customer client
shipment consignment load freight parcel delivery
visit appointment consultation
invoice bill
ticket request case issue
apartment flat property unit home
performance show concert event exhibition
tour trip journey ride
job project assignment task
maintenance repair
product item article part
loan borrowing
payment transaction
donation gift contribution
member person people membership
machine equipment device
course class lesson
`
const KINDS: readonly ReadonlySet<string>[] = ROW_NOUNS.trim()
  .split('\n')
  .map((line) => toStems(line))

/** Whether two words name the same kind of rows. */
export const areSameRows = (first: string, second: string): boolean => KINDS.some((kind) => kind.has(first) && kind.has(second))
