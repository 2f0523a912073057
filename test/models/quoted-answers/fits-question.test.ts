import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { fitsQuestion, lacksAskedValue, lacksReason } from '../../../daemon/models/quoted-answers/question/fits-question.ts'

const test = suite('types of answers')
const fits = (question: string, text: string, quote = text) =>
  fitsQuestion(question, {
    text,
    quote,
    before: quote.slice(0, quote.indexOf(text)),
    after: quote.slice(quote.indexOf(text) + text.length),
  })

test('how many and how much ask for a number', () => {
  assert.ok(fits('How many systems are there?', 'twelve'))
  assert.ok(fits('How much does it cost?', '€ 30'))
  assert.not(fits('How many internal systems are there?', 'a number', 'We have a number of internal systems.'))
  assert.ok(fits('How many pages are read?', '16-20'))
  assert.ok(fits('How many months does it run?', '24'))
  assert.ok(fits('How many months does it run?', 'two years'))
  assert.not(fits('How many months does it run?', '1 July 2025'))
  assert.not(fits('How many databases are there?', "'databases'-1", "A number between 0 and 'databases'-1"))
})

test('when, which day and how long ask for a time', () => {
  assert.ok(fits('When do we meet?', 'every Monday'))
  assert.ok(fits('Until when is it open?', 'noon'))
  assert.ok(fits('How long does it take?', 'three weeks'))
  assert.not(fits('When do we meet?', 'in the large hall'))
  const quote = 'The nomination passes if nobody opposes it within one week.'
  assert.ok(fits('When does a nomination pass?', 'if nobody opposes it within one week', quote))
  assert.not(fits('When does a nomination fail?', 'if nobody opposes it within one week', quote))
  assert.not(fits('Which day is best?', 'the large hall'))
})

test('who asks for the person that does what the question says', () => {
  assert.ok(fits('Who approves travel?', 'the head of department', 'Travel is approved by the head of department.'))
  assert.not(fits('Who pays for dental insurance?', 'MetLife', 'Dental insurance is offered through MetLife.'))
  assert.not(fits('Who pays for dental insurance?', 'MetLife', 'We pay for dental insurance from MetLife.'))
  assert.not(fits('Who approves travel?', '14 days', 'Approve travel within 14 days.'))
  assert.ok(fits('Who leads the project?', 'Noor Castellanos', 'It has five members and is led by Noor Castellanos.'))
  assert.ok(fits('Who is our ombudsperson?', 'Dr. Aalders', 'Speak to our ombudsperson, Dr. Aalders, in confidence.'))
  assert.not(fits('Who is moving into our old office?', 'The printers', 'The printers stay in the old office.'))
})

test('a name is the one with the words of the question', () => {
  const quote = 'RESTIC_PASSWORD_FILE   Location of the password file\nRESTIC_PASSWORD   The actual password'
  const question = 'Which environment variable contains the path of the password file?'
  assert.not(fits(question, 'RESTIC_PASSWORD', quote))
  assert.ok(fits(question, 'RESTIC_PASSWORD_FILE', quote))
})

test('a number of something else is not how many there are', () => {
  assert.not(fits('After how many attempts does it give up?', 'one minute'))
  assert.not(fits('How many boats are there?', 'five classes'))
  assert.ok(fits('How many days of leave do I get?', '28 working days'))
  assert.ok(fits('How many people fit in?', 'eight members'))
})

for (const [question, quote] of [
  ['How long are templates cached?', 'Templates are cached in production only.'],
  ['How many boats does the club own?', 'The club has five classes of members.'],
  ['What is the price of the jug?', 'A jug is sold separately (part no. BR-417).'],
  ['What does it cost to enter?', 'White clothes are customary.'],
  ['What is the deadline for entries?', 'Entries are sent to the secretary.'],
  ['When was the house built?', 'The house is for families.'],
  ['How many employees work here?', 'The policy covers $400,000 for all staff at 37signals.'],
  ['How much notice do I give?', 'You forfeit your shares at 37signals.'],
  ['How much is the budget for a trip?', 'Make 1 trip a year.'],
  ['How much is the rent?', '41 Cordwainer Row, Apartment 3B'],
  ['How much does the landlord charge for holes?', 'Holes are allowed, up to ten per room.'],
  ['How heavy is the machine?', '| Noise | 49 / 73 dB |'],
  ['How tall is the tower?', '“The tower was built in 1911.”'],
  ['How tall is the tower?', '“The tower is of 1911”'],
  ['What interest rate is paid on the deposit?', 'The deposit is $2,760.'],
  ['What is the phone number of the office?', 'The office is on floor 2.'],
  ['What is the e-mail address of the office?', 'The office is open on Monday.'],
  ['Which environment variable changes the name?', '| svc | string | name of the service |'],
] as const)
  test(`"${question}" is not answered by "${quote}"`, () => assert.ok(lacksAskedValue(question, quote)))

for (const [question, quote] of [
  ['When may the landlord enter without notice?', 'In an emergency no notice is needed.'],
  ['What is the order number of the jug?', 'A jug is sold separately (part no. BR-417).'],
  ['Which time zone name is used?', 'The name of the zone is that of a city.'],
  ['What is the number format?', 'Numbers are written as in English.'],
  ['When many people are arrested, what do they do?', 'They use solidarity to get the same offer.'],
  ['What does the lamp do?', 'It shows the way.'],
  ['How much is it for members?', 'Members enter free of charge.'],
  ['What is the price of a ticket?', 'A ticket is 12 per person.'],
  ['How much is the rent?', '“Rent: 500”'],
  ['How much does it cost?', 'It costs 5,000 rupees.'],
  ['How much notice must the landlord give before a rent increase?', '30 days are required.'],
  ['How much time do I have to pay the rent?', 'You have five days.'],
  ['How many days of vacation do I get?', 'You get four weeks.'],
  ['How many retries are there?', 'It is repeated up to 3 times.'],
  ['How wide is the screen?', 'It has 1920 pixels.'],
  ['How far is the station?', 'It is ten minutes away.'],
  ['What is rent?', 'What a tenant pays.'],
  ['Which fees do students pay?', 'They pay the library fee.'],
  ['Which phone should I use?', 'Use an iPhone.'],
  ['Which environment variable sets the proxy?', 'Set `http_proxy`.'],
  ['How much is the deposit?', "The deposit is one and a half months' rent."],
  ['How much does entry cost?', '| Entry | 12 |'],
  ['How much of the fee is refunded?', 'We return 80 % of it.'],
  ['How heavy is the machine?', '| Weight (kg) | 71 |'],
  ['How tall is the tower?', 'The tower has 12 storeys.'],
  ['How far ahead must I ask?', 'Ask three days in advance.'],
  ['What is the phone number of the office?', 'Call 0555 01 02.'],
  ['Which environment variable changes the name?', '| `APP_NAME` | name |'],
] as const)
  test(`"${question}" may be answered by "${quote}"`, () => assert.not(lacksAskedValue(question, quote)))

test('why asks for a reason', () => {
  assert.ok(lacksReason('Why did they not join?', 'The village voted against joining.'))
  assert.not(lacksReason('Why did they not join?', 'The village voted against joining, since it wanted its own school.'))
  assert.not(lacksReason('When did they join?', 'The village joined in 1911.'))
})

test('other questions accept any words', () => {
  assert.ok(fits('Why is the sky blue?', 'because of the air'))
  assert.ok(fits('How do I start it?', 'npm start'))
  assert.ok(fits('What happens when it fails?', 'the job is repeated'))
})

test.run()
