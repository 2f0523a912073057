/** The words of headers, with abbreviations in full: "cust" is a customer, "Pay/hr" is hourly pay. */

const ABBREVIATIONS: ReadonlyMap<string, string> = new Map(
  `hr hour
hrs hours
mins minutes
instr instrument
qty quantity
amt amount
inv invoice
cust customer
dept department
emp employee
acct account
addr address
tel phone
ph phone
mgr manager
mfr manufacturer
pmt payment
pymt payment
sched scheduled
est estimated
appt appointment
pts points
dob date of birth
datum date
insp inspection
prio priority
sev severity
yr year
yrs years
lic licence
desc description
loc location
btl bottles
wt weight
dist distance
pc piece
pers persons`
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
)

/** "min_qty", "Max. places": "min" at the end of a header are minutes. */
const LIMIT = /^(min|max)(?=[. ]+[a-z])/i
const PER_HOUR = /(?:\/|\bper )\s*(?:hr|hour|h)\b/gi

const DEADLINE_VERBS = 'ship|send|return|pay|deliver|reply|respond|answer|finish|complete|collect|decide|submit|file|needed|wanted|required'
/** "Ship by" is a deadline, but "Sold by" a person. */
const DEADLINE = new RegExp(String.raw`\b(${DEADLINE_VERBS}) by(?: date| day)?$`, 'i')
/** "The ship-by date" */
export const NAMED_DEADLINE = new RegExp(String.raw`\b(${DEADLINE_VERBS})(?:-by\b(?: (?:date|day)s?)?| by (?:date|day)s?)`, 'gi')

export const expandHeader = (header: string): string =>
  header
    .replaceAll('_', ' ')
    .replace(LIMIT, '$1imum')
    .replace(/\bp\. ?a\./i, 'annual')
    .replace(DEADLINE, '$1 deadline')
    .replaceAll(PER_HOUR, ' hourly')
    .replaceAll(/[a-z]+/gi, (word) => ABBREVIATIONS.get(word.toLowerCase()) ?? word)
