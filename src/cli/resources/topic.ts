/** A resource family as the terminal knows it. */
import type { TSchema } from 'typebox'
import type { CrudRoutes, Family } from '../../contract/crud.ts'
import type { Body, InputReader, ResourceInput } from '../input/input-reader.ts'
import type { References } from './resolve-references.ts'

export interface Topic {
  /** The words after cadre. */
  command: string
  family: Family
  routes: Pick<CrudRoutes, 'list' | 'get' | 'create' | 'update' | 'remove'>
  /** Columns of its table. */
  columns: readonly string[]
  /** The field people call it by, where they may write that in place of the identifier. */
  label?: string
  /** Fields that name other resources. */
  references: References
  /** Fields that name another resource only in some bodies, and so keep the name they have. */
  conditionalReferences?: References
  /** What it means that a field holds nothing, where that is more than nothing. */
  nullLabels?: Readonly<Record<string, string>>
  /** How most people make one, where that is not create. */
  createExample?: string
  /** How --file is read, where a file may hold other things than resources. */
  readFile?: (file: string, reader: InputReader) => Promise<ResourceInput>
  /** What help says of such a file. */
  fileContents?: string
  /** The field that create alone shows. */
  oneTimeField?: string
  /** What people do with one that they just made: what for, and the command for one of that name and identifier. */
  getNextStep?: (created: { name: string; id: string }) => [what: string, command: string]
  /** What create is told by flags, where that is not the body itself, and the body it becomes. */
  form?: { schema: TSchema; fill: (body: Body) => Body }
}

/** How a message calls one resource: by its name where it has one. */
export function formatTitle({ label }: Topic, resource: Body): string {
  const name = label === undefined ? undefined : resource[label]
  return typeof name === 'string' && name !== '' ? `${name} (${String(resource.id)})` : String(resource.id)
}
