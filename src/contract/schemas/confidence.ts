/** How certain the embedded model is of an answer. */
import type { Static } from 'typebox'
import { stringEnum } from './fields.ts'

export const CONFIDENCE_LEVELS = ['certain', 'probable', 'none'] as const

export type Confidence = Static<typeof confidence>
export const confidence = stringEnum(CONFIDENCE_LEVELS, {
  description:
    'How certain the embedded model is: certain, probable (the text starts with "Probably:") or none (no answer was found). ' +
    'Absent if another model answered.',
})
