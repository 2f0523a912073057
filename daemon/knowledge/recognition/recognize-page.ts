/** Recognises a page that may be upside down, sideways, skewed, or a photo without text. */
import { MAX_PAGE_PIXELS } from './decode-page.ts'
import { type GrayImage, measureBackground, shrinkImage, turnImage } from './gray-image.ts'
import type { RecognizedText } from './parse-words.ts'
import { UNCERTAIN_CONFIDENCE } from './recognized-page.ts'
import type { Tesseract } from './tesseract.ts'

/** An A4 page of this size is just legible. */
const SMALL_COPY_PIXELS = 600_000
/** Letters and digits in certain words: fewer are found in clouds and foliage. */
const MIN_TEXT = 6
/** Share of the background below which an image is a photo: it is not turned in search of text. */
const MIN_PAPER = 0.45
/** Quarters, in the order of how common they are. */
const TURNS = [1, 3, 2]

const NO_TEXT: RecognizedText = { text: '', confidence: 0, certainCharacters: 0 }

export function recognizePage(tesseract: Tesseract, original: GrayImage, isPhoto: boolean): RecognizedText {
  const image = shrinkImage(original, MAX_PAGE_PIXELS)
  const small = shrinkImage(image, SMALL_COPY_PIXELS)
  if (measureBackground(small) > 0.9995) return NO_TEXT
  const hasText = ({ certainCharacters }: RecognizedText) => certainCharacters >= MIN_TEXT
  const isClear = (result: RecognizedText) => hasText(result) && result.confidence >= UNCERTAIN_CONFIDENCE
  // A scan is most likely text: it needs no quick look. A small image is recognised as it is.
  const isFinal = !isPhoto || small === image
  const first = isFinal ? tesseract.recognizeSkewed(image) : tesseract.recognize(small)
  if (isClear(first)) return isFinal ? first : tesseract.recognizeSkewed(image)
  let best = { quarters: 0, result: isFinal && small !== image ? tesseract.recognize(small) : first }
  if (!isPhoto || measureBackground(small) >= MIN_PAPER)
    for (const quarters of TURNS) {
      const result = tesseract.recognize(turnImage(small, quarters))
      if (result.certainCharacters > best.result.certainCharacters) best = { quarters, result }
      if (isClear(result)) break
    }
  if (best.quarters === 0 && isFinal) return hasText(first) ? first : NO_TEXT
  if (!hasText(best.result)) return NO_TEXT
  const turned = tesseract.recognizeSkewed(turnImage(image, best.quarters))
  return isFinal && first.certainCharacters > turned.certainCharacters ? first : turned
}
