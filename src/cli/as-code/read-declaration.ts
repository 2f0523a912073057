/** Flags and input of `plan` and `apply`: the folder of YAML files as a request body. */
import { boolean, string } from '@oclif/core/flags'
import type { InferredFlags } from '@oclif/core/interfaces'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { asCodeRoutes, MANAGED_FAMILIES, type ManagedFamily } from '../../contract/families/as-code.ts'
import type { RouteInput } from '../../contract/route.ts'
import { suggestWord } from '../../contract/suggest.ts'
import { repeatable, splitWords } from '../input/repeatable-flags.ts'
import { UsageError } from '../terminal/failures/command-errors.ts'
import type { Plan } from './format-plan.ts'
import { resolveSecrets } from './resolve-secrets.ts'
import { listResourceFiles, readResourceFile } from './resource-files.ts'
import { parseResource } from './resource-yaml.ts'

type Declaration = RouteInput<typeof asCodeRoutes.apply>['body']

export const onlyFlag = string({
  ...repeatable,
  description: 'Limit to these families, such as agents,models; repeatable.',
  helpValue: '<a,b>',
})

export const declarationFlags = {
  file: string({ char: 'f', required: true, description: 'Folder of YAML files.', helpValue: '<directory>' }),
  only: onlyFlag,
  prune: boolean({ description: 'Delete resources that are not in the folder.' }),
}

/** Returns all families by default. */
export function parseFamilies(only: readonly string[] | undefined): readonly ManagedFamily[] {
  if (only === undefined) return MANAGED_FAMILIES
  return splitWords(only).map((word) => {
    const family = MANAGED_FAMILIES.find((one) => one === word)
    if (family) return family
    const near = suggestWord(word, MANAGED_FAMILIES)
    throw new UsageError(`--only: unknown family ${word}.`, near ? `Did you mean ${near}?` : `Families: ${MANAGED_FAMILIES.join(', ')}.`)
  })
}

export async function readDeclaration({ file: folder, only, prune }: InferredFlags<typeof declarationFlags>): Promise<Declaration> {
  const families = parseFamilies(only)
  const files = (await listResourceFiles(folder)).filter(({ family }) => families.includes(family))
  if (files.length === 0)
    throw new UsageError(`${folder} contains no resources.`, 'To export the existing resources: cadre export --to DIRECTORY')
  const resources: Declaration['resources'] = []
  for (const { family, file } of files)
    resources.push({ family, file, fields: resolveSecrets(family, await parseResource(await readResourceFile(folder, file), file), file) })
  return { resources, ...(prune ? { prune } : {}), ...(only === undefined ? {} : { families: [...families] }) }
}

export async function fetchPlan(connection: Connection, body: Declaration): Promise<Plan> {
  return (await call(connection, asCodeRoutes.apply, { body: { ...body, dry_run: true } })).data
}
