/** Languages of text recognition. */
import { type Static, Type } from 'typebox'
import { route } from '../../route.ts'
import { count, flag, namedObject, object } from '../../schemas/fields.ts'
import { MAX_DOCUMENT_BODY_BYTES } from '../documents.ts'

const language = Type.String({
  pattern: '^[a-z]{3}(_[a-z]{3,8}){0,2}$',
  description: 'Code of the language, as Tesseract names it.',
  examples: ['deu'],
})

export type RecognitionLanguage = Static<typeof RecognitionLanguage>
export const RecognitionLanguage = namedObject(
  'RecognitionLanguage',
  'A language of text recognition.',
  {
    language,
    size: count('Size of its data, in bytes.'),
    built_in: flag('Whether it is part of Cadre and cannot be removed.'),
  },
  [{ language: 'deu', size: 1_333_102, built_in: false }],
)

export const LanguageData = namedObject('LanguageData', 'The data of a language.', {
  content_base64: Type.String({
    minLength: 1,
    description: 'A .traineddata file of Tesseract 4 or later, also compressed with gzip, in base64.',
  }),
})

const languages = { family: 'knowledge-sources', response: RecognitionLanguage }
const oneLanguage = { ...languages, path: '/recognition-languages/{language}', params: object({ language }), access: 'admin' as const }

export const recognitionLanguageRoutes = {
  list: route({
    ...languages,
    id: 'recognition-languages.list',
    method: 'GET',
    path: '/recognition-languages',
    summary: 'List the languages of text recognition',
    access: 'read',
    response: namedObject('RecognitionLanguageList', 'Languages of text recognition.', {
      languages: Type.Array(RecognitionLanguage, { description: 'Languages, English first.' }),
    }),
  }),
  add: route({
    ...oneLanguage,
    id: 'recognition-languages.add',
    method: 'PUT',
    summary: 'Add a language of text recognition',
    description:
      'Images and scans are then recognised with this language too. Text that was recognised before stays as it is, until its ' +
      'source is synced with recognize_again.',
    body: LanguageData,
    bodyLimit: MAX_DOCUMENT_BODY_BYTES,
  }),
  remove: route({
    ...oneLanguage,
    id: 'recognition-languages.remove',
    method: 'DELETE',
    summary: 'Remove a language of text recognition',
    description: 'Recognised text stays as it is.',
    shape: 'message',
  }),
}
