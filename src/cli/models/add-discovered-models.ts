/** Selects discovered models by name and adds them. */
import type { Static } from 'typebox'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError, handleError } from '../../contract/errors.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { sanitizeLine } from '../terminal/text.ts'

export type DiscoveredModel = Static<(typeof modelRoutes.discover)['response']>[number]

/** A discovered model, or another model of a provider whose API key was found. */
export interface ModelSelection {
  origin: string
  model_id: string
}

/** Selects models by name, model ID, origin or `origin=model`. */
export function selectModels(words: readonly string[], discovered: readonly DiscoveredModel[]): ModelSelection[] {
  return words.flatMap((word) => {
    const [origin = '', model] = word.split(/=(.*)/s)
    if (model && discovered.some((entry) => entry.origin === origin)) return [{ origin, model_id: model }]
    const matches = discovered.filter(({ name, model_id, origin: found }) => [name, model_id, found].includes(word))
    if (matches.length > 0) return matches
    const key = discovered.find(({ endpoint }) => endpoint === null)
    throw new CadreError('NOT_FOUND', `No model "${word}" was found.`, {
      hint: `List the models with cadre models discover.${key ? ` For another model of ${key.provider}: --add ${key.origin}=MODEL` : ''}`,
    })
  })
}

/** Adds the models that do not exist yet. */
export async function addModels(
  connection: Connection,
  selection: readonly ModelSelection[],
  discovered: readonly DiscoveredModel[],
): Promise<Model[]> {
  const added: Model[] = []
  const known = new Set<string>()
  for (const { origin, model_id } of selection) {
    const key = `${origin} ${model_id}`
    if (known.has(key)) continue
    known.add(key)
    const existing = discovered.find((entry) => entry.origin === origin && entry.model_id === model_id)?.added
    if (existing) {
      connection.notify(`${sanitizeLine(model_id)} has already been added (${existing}).`)
      continue
    }
    // A model that is not listed, or that another command adds at the same time.
    const reportExisting = ({ message }: CadreError) => connection.notify(sanitizeLine(message))
    const response = await call(connection, modelRoutes.adopt, { body: { origin, model_id } }).catch(
      handleError('CONFLICT', reportExisting),
    )
    if (!response) continue
    connection.notify(`Added model ${sanitizeLine(response.data.name)} (${response.data.id}).`)
    added.push(response.data)
  }
  return added
}
