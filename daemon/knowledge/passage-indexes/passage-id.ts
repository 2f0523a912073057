/** The ID of a passage: the ID of its document and the position in it. */

export const formatPassageId = (documentId: string, position: number): string => `${documentId}:${position}`

export const getDocumentId = (passageId: string): string => passageId.slice(0, passageId.lastIndexOf(':'))
