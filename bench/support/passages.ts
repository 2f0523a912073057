/** Passages of English prose for measuring the embedded models. */

/** The default size of a passage. */
export const PASSAGE_CHARACTERS = 800

const PROSE = [
  'The harbour froze twice that winter, and both times the ferry stayed at its pier for a week. Employees may carry over ',
  'at most five days of leave into the following year, provided that their manager agrees in writing before the end of ',
  'November. Backups are taken nightly, kept for thirty-five days, and tested on the first Monday of every month. Interest ',
  'is compounded monthly on the outstanding balance, at the rate stated in Schedule B. A request that is not answered ',
  'within thirty seconds is cancelled, and its budget is given back. The eastern wall is load-bearing and must not be ',
  'opened without a structural survey. Randomised trials found no significant difference in mortality between the two ',
  'groups. Turn the valve a quarter to the left until the hissing stops; do not force it. Prices rose by three per cent in ',
  'March. ',
].join('')

/** Returns a different passage for every number. */
export const createPassage = (number: number): string =>
  `${number}. ${PROSE.slice((number * 13) % 90)}${PROSE}`.slice(0, PASSAGE_CHARACTERS)
