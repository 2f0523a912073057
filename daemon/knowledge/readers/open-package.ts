/** Finds the parts of an Office Open XML package (docx, xlsx, pptx) by their relationships. */
import { getLocalName, parseAttributes, walkMarkup } from './walk-markup.ts'
import { resolvePartName, type ZipArchive } from './zip-archive.ts'

interface Relationship {
  id: string
  /** The last word of its type, such as worksheet or notesSlide. */
  type: string
  /** Name of the part. */
  target: string
}

export function findAttribute(attributes: string, name: string): string | undefined {
  for (const [key, value] of parseAttributes(attributes)) if (getLocalName(key) === name) return value
  return undefined
}

/** Lists the relationships of a part; those of the package have the name ''. Targets outside of the package are left out. */
export function listRelationships(archive: ZipArchive, part: string): Relationship[] {
  const folder = part.slice(0, part.lastIndexOf('/') + 1)
  const relationships: Relationship[] = []
  walkMarkup(archive.readText(`${folder}_rels/${part.slice(folder.length)}.rels`), 'office', {
    open(tag, attributes) {
      if (tag !== 'Relationship' || findAttribute(attributes, 'TargetMode') === 'External') return
      const target = resolvePartName(part, findAttribute(attributes, 'Target') ?? '')
      const type = (findAttribute(attributes, 'Type') ?? '').replace(/^.*\//, '')
      if (archive.has(target)) relationships.push({ id: findAttribute(attributes, 'Id') ?? '', type, target })
    },
  })
  return relationships
}

/** Returns the main part, which the package names; `fallback` is its usual name. */
export function findMainPart(archive: ZipArchive, fallback: string): string | undefined {
  const main = listRelationships(archive, '').find(({ type }) => type === 'officeDocument')?.target
  return main ?? (archive.has(fallback) ? fallback : undefined)
}

/** Returns the title in the properties of the document. */
export function findTitle(archive: ZipArchive, part = 'docProps/core.xml'): string | null {
  return /<dc:title>([^<]{1,300})/.exec(archive.readText(part))?.[1]?.trim() || null
}

/** Says which parts of an Office document are not read; undefined if there are none. */
export function describeUnreadParts(names: readonly string[], kinds: readonly [RegExp, string][]): string | undefined {
  const found = kinds.flatMap(([pattern, kind]) => (names.some((name) => pattern.test(name)) ? [kind] : []))
  const last = found.pop()
  if (last === undefined) return undefined
  const list = found.length === 0 ? last : `${found.join(', ')} and ${last}`
  return `${list[0]?.toUpperCase()}${list.slice(1)} were not read.`
}
