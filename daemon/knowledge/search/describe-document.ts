/** Finds the descriptions of a document: those of its knowledge source and of the folders that contain it. */
import type { PassageDescription } from '../../../src/contract/schemas/passages.ts'
import type { SourceDescriptions } from './search-store.ts'

/** Outermost first. */
export function describeDocument({ name, description, folders }: SourceDescriptions, documentName: string): PassageDescription[] {
  const above = Object.entries(folders)
    .filter(([folder]) => documentName.startsWith(`${folder}/`))
    .sort(([a], [b]) => a.length - b.length)
    .map(([folder, text]) => ({ path: `${name}/${folder}`, description: text }))
  return [...(description === '' ? [] : [{ path: name, description }]), ...above]
}
