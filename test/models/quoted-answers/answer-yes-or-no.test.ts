import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { answerYesOrNo } from '../../../daemon/models/quoted-answers/answer-yes-or-no.ts'

const test = suite('yes or no')

for (const [question, sentence, verdict] of [
  ['Can I carry unused vacation over?', 'Unused vacation can be carried over to the next year.', 'Yes'],
  ['Can I carry unused vacation over?', 'Unused vacation cannot be carried over to the next year.', 'No'],
  ['Can I carry unused vacation over?', 'Unused vacation may be carried over if your manager agrees.', 'It depends'],
  ['Can I carry unused vacation over?', 'Unused vacation may not be carried over, unless you were ill.', 'It depends'],
  ['Are dogs allowed in the office?', 'Dogs must not be brought into the office.', 'No'],
  ['Do I have to wear a helmet?', 'Everybody must wear a helmet on the site.', 'Yes'],
  ['Do I need to wear a helmet?', 'Wearing a helmet is optional.', 'No'],
  ['Is the report public?', 'The report is public.', 'Yes'],
  ['Is the report public?', 'The report is not public.', 'No'],
  ['Is the report public?', 'We hide nothing\nThe report is public.', 'Yes'],
  ['Is the report public?', 'We do not hide it. The report is public.', 'Yes'],
  ['Does it run on Bun?', 'It runs on Node and on Bun; Deno is not supported.', 'Yes'],
  ['Can I use the north gate?', 'The north gate can be used by all; the south gate must not be used.', 'Yes'],
  ['Can I bring a dog?', 'Dogs are allowed in the hall; only on a lead.', undefined],
  ['Are dogs allowed?', 'Dogs are allowed in the hall; only on a lead.', 'It depends'],
  ['Is the deposit paid?', 'The deposit was paid.', 'Yes'],
  ['Can I use oil instead of butter?', 'You can use margarine instead of butter, but not oil.', 'No'],
  ['Can I use the gate on Sundays?', 'The gate can be used by all, but not on Sundays.', 'No'],
  ['Is it ok to bring a dog?', 'You must not bring a dog.', 'No'],
  ['Can I take 30 days of leave?', 'You can take up to 20 days of leave at once.', 'No'],
  ['Can I take 10 days of leave?', 'You can take up to 20 days of leave at once.', 'Yes'],
] as const)
  test(`"${question}" with "${sentence}": ${verdict}`, () => assert.is(answerYesOrNo(question, sentence), verdict))

for (const [question, sentence] of [
  ['Can I carry unused vacation over?', 'Vacation is requested in the calendar.'],
  ['Is the report public?', 'The report is long. Its summary is not public.'],
  ['Is there a gym?', 'The gym of the hotel next door has a sauna, but ours does not.'],
  ['Is it forbidden to smoke?', 'Smoking is not permitted.'],
  ['Should I use tabs or spaces?', 'Everybody must use spaces.'],
  ['Do I have to wear a helmet?', 'You may wear a helmet with your name.'],
  ['Can I take 30 weeks of leave?', 'You can take up to 20 days of leave at once.'],
  ['When can I take leave?', 'Leave can be taken in June.'],
  ['Can I carry vacation over?', 'Can I carry vacation over?'],
  ['Is the deposit paid?', 'The tenant pays a deposit.'],
  ['Do I have to send a receipt?', 'A claim without a receipt will not be accepted.'],
] as const)
  test(`"${question}" is not settled by "${sentence}"`, () => assert.is(answerYesOrNo(question, sentence), undefined))

test('headings say what a sentence is about', () => {
  assert.is(answerYesOrNo('Can I bring a dog?', 'They are allowed on Fridays.', ['Dogs']), undefined)
  assert.is(answerYesOrNo('Are dogs allowed?', 'They are allowed.', ['Dogs']), 'Yes')
})

for (const [question, sentence, verdict, heading = '--overwrite'] of [
  ['Is --overwrite on by default?', 'Replaces the archive. Off by default.', 'No'],
  ['Is --overwrite enabled by default?', 'Default: true', 'Yes'],
  ['Is --overwrite disabled by default?', 'The default is false.', 'Yes'],
  ['Is --overwrite enabled by default?', 'Enabled by default unless the folder is empty.', undefined],
  ['Is --overwrite enabled by default?', 'Replaces the archive.', undefined],
  ['Is the cache on by default?', 'Default: false', undefined, '--no-cache'],
  ['Is --overwrite enabled by default?', 'It is not enabled by default.', undefined],
  ['Is --overwrite enabled by default?', 'It is no longer enabled by default.', undefined],
  ['Is --overwrite disabled by default?', 'It was disabled by default in the past; now it is not.', undefined],
  ['Is logging enabled by default?', 'Logging is disabled by default.', 'No', 'Logging'],
  ['Is encryption on by default?', 'Compression is on by default. Encryption is off by default.', undefined, 'Security'],
  ['Is the warning on startup disabled by default?', 'The warning on startup is disabled by default.', 'Yes', 'Warnings'],
  ['Is the limit active by default?', 'The default is no limit.', undefined, 'Limit'],
] as const)
  test(`"${question}" with "${sentence}" of ${heading}: ${verdict}`, () => assert.is(answerYesOrNo(question, sentence, [heading]), verdict))

test.run()
