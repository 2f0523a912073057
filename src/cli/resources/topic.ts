/** CLI settings of a resource family. */
import type { TSchema } from 'typebox'
import type { CrudRoutes, Family } from '../../contract/crud.ts'
import type { Body, InputReader, ResourceInput } from '../input/input-reader.ts'
import type { Kind } from './resource-kinds.ts'

/** The kinds of resource that each field can refer to; they may depend on another field. */
export type References = Readonly<Record<string, readonly Kind[] | ((body: Body) => readonly Kind[])>>

export interface Topic {
  /** CLI topic. */
  command: string
  family: Family
  routes: Pick<CrudRoutes, 'list' | 'get' | 'create' | 'update' | 'remove'>
  /** Table columns. */
  columns: readonly string[]
  /** Field that can be used instead of the ID. */
  label?: string
  /** Fields that refer to other resources. */
  references: References
  /** Topics whose resources are listed, shown, updated and deleted with the same commands. */
  alternatives?: readonly Topic[]
  /** Fields that refer to other resources only in some bodies; their flags keep the field name. */
  conditionalReferences?: References
  /** List fields that an update can add to and remove from, with the flags --add-X and --remove-X. */
  editableLists?: readonly string[]
  /** Changes how a resource is shown to people; JSON output is not affected. */
  toView?: (resource: Body) => Body
  /** Shown for fields that are null. */
  nullLabels?: Readonly<Record<string, string>>
  /** Preferred command to create one, if not create. */
  createExample?: string
  /** Reads --file if it may contain something other than resources. */
  readFile?: (file: string, reader: InputReader) => Promise<ResourceInput>
  /** Describes the file in the help. */
  fileContents?: string
  /** Field that only the create response contains. */
  oneTimeField?: string
  /** Suggested command after create. */
  getNextStep?: (created: { name: string; id: string }) => [what: string, command: string]
  /** Schema of the create flags, if it differs from the body. */
  form?: { schema: TSchema; toBody: (body: Body) => Body }
  /** Schema of the update flags, if it differs from the body, which may depend on the current resource. */
  updateForm?: { schema: TSchema; toBody: (body: Body, current: Body) => Body }
}

/** Returns the topic of a resource by the prefix of its ID. */
export const findTopic = (topic: Topic, id: string): Topic =>
  topic.alternatives?.find(({ family }) => id.startsWith(`${family.prefix}_`)) ?? topic

/** Formats a resource for messages: `name (ID)`, or the ID. */
export function formatTitle({ label }: Topic, resource: Body): string {
  const name = label === undefined ? undefined : resource[label]
  return typeof name === 'string' && name !== '' ? `${name} (${String(resource.id)})` : String(resource.id)
}
