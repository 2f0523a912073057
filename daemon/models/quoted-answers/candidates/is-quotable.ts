/** Tells which parts of a passage cannot be quoted as an answer. */
import { extractContentWords } from '../../../language/content-words.ts'
import { stripMarkdown } from '../../../language/parse-markdown.ts'
import type { Part } from '../parse-passage.ts'
import { asksYesOrNo } from '../question/detect-question-type.ts'

export function repeatsQuestion(questionWords: Pick<ReadonlySet<string>, 'has'>, text: string): boolean {
  return extractContentWords(stripMarkdown(text)).every((word) => questionWords.has(word))
}

const STATEMENT =
  /\b(?:is|are|was|were|be|been|can|cannot|could|may|might|must|shall|should|will|would|do|does|did|has|have|had|not|never)\b|n['’]t\b/i

/** "Are paths case sensitive" and "Whether paths are case sensitive" say neither yes nor no. */
const CLAUSE = /^\W*(?:if|whether|when|where|why|who|how|what|which|unless)\b/i
const MARK = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/

/** Whether a text says that something is so, in the words of a question for yes or no: "Paths are case sensitive". */
export const isStatement = (text: string): boolean => STATEMENT.test(text) && !CLAUSE.test(text) && !asksYesOrNo(text.replace(MARK, ''))

/** Whether a part cannot be quoted alone: the passage starts or ends inside of it, or it is a question. */
export function isIncomplete(content: string, { start, end, block }: Part): boolean {
  const text = content.slice(start, end)
  // The end of a statement can be in the next passage.
  if (block.kind === 'statement') return countMatches(text, /[([{]/g) > countMatches(text, /[)\]}]/g)
  if (block.kind !== 'text' && block.kind !== 'item') return false
  if (start === 0 && /^\p{Ll}/u.test(content)) return true
  return /[?？]["'”’)\]]?$/.test(text)
}

const countMatches = (text: string, pattern: RegExp) => text.match(pattern)?.length ?? 0

const MAIL_FIELD = /^(?:From|To|Cc|Date|Attachments): /
const MAIL_QUESTION = new RegExp(
  String.raw`\b(?:who|whom|whose|when|date|day|sent|sends?|sender|wrote|writes?|written|author|recipients?|received?|cc|copied|subject` +
    String.raw`|e?mails?|attach\w*|wer|wem|wen|wann|datum|tag|absender|empfänger|geschickt|geschrieben|anhang|anhänge|quién|quiénes` +
    '|cuándo|fecha|remitente|destinatarios?|enviado|escribió|adjuntos?|qui|quand|expéditeur|destinataires?|envoyé|écrit' +
    String.raw`|jointe?s?)(?!\p{L})`,
  'iu',
)
const SALUTATION = new RegExp(
  '^(?:dear|hi|hello|hey|good (?:morning|afternoon|evening)|hallo|liebe[rs]?|sehr geehrte[rs]?|guten (?:tag|morgen)|hola' +
    String.raw`|estimad[oa]s?|querid[oa]s?|bonjour|ch[eè]re?s?)\b[^.:;?]{0,60}[,!]$`,
  'iu',
)

/** Whether a question can ask for the sender, the recipients, the date or the attachments of a mail. */
export const asksAboutMail = (question: string): boolean => MAIL_QUESTION.test(question)

/** Whether a part is the header of a mail: who wrote it to whom, and when. */
export function isMailHeader(content: string, { start, end, block }: Part): boolean {
  if (block.kind !== 'record') return false
  const lines = content.slice(start, end).split('\n')
  return lines.length >= 2 && lines.every((line) => MAIL_FIELD.test(line))
}

export const isSalutation = (content: string, { start, end, block }: Part): boolean =>
  block.kind === 'text' && SALUTATION.test(content.slice(start, end))
