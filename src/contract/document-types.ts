/** File types of documents that are not plain text, with their media types. */

export const DOCUMENT_MEDIA_TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  doc: 'application/msword',
  odt: 'application/vnd.oasis.opendocument.text',
  rtf: 'application/rtf',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  xlsm: 'application/vnd.ms-excel.sheet.macroenabled.12',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odp: 'application/vnd.oasis.opendocument.presentation',
  epub: 'application/epub+zip',
  eml: 'message/rfc822',
  mbox: 'application/mbox',
  msg: 'application/vnd.ms-outlook',
  ipynb: 'application/x-ipynb+json',
  zip: 'application/zip',
  tar: 'application/x-tar',
  gz: 'application/gzip',
  tgz: 'application/x-gtar-compressed',
}

/** Images, whose text is recognised. */
export const IMAGE_TYPES: readonly string[] = ['png', 'jpg', 'jpeg', 'tif', 'tiff', 'webp', 'gif']

/** Documents with pages; all others have the page number 1, which is not worth showing. */
const PAGED_TYPES = new Set(['pdf', 'docx', 'doc', 'odt', 'rtf'])

/** Returns the file type of a name or URL, without the dot. */
export const getDocumentType = (name: string): string => /\.(\w{1,16})(?:[?#].*)?$/.exec(name)?.[1]?.toLowerCase() ?? ''

/** Whether the place of a passage is worth showing. */
export function hasPlace({ source, page, place }: { source: string; page: number; place?: string | undefined }): boolean {
  return place !== undefined || page > 1 || PAGED_TYPES.has(getDocumentType(source))
}

export function findTypeByMediaType(mediaType: string): string | undefined {
  const type = mediaType.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'text/rtf') return 'rtf'
  return Object.keys(DOCUMENT_MEDIA_TYPES).find((name) => DOCUMENT_MEDIA_TYPES[name] === type)
}
