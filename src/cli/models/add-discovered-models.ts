/** Models that were discovered: which of them are meant, and adding them. */
import type { Static } from 'typebox'
import { call } from '../../client/call.ts'
import type { Connection } from '../../client/request.ts'
import { CadreError } from '../../contract/errors.ts'
import { type Model, modelRoutes } from '../../contract/families/models.ts'
import { oneLine } from '../terminal/text.ts'

export type DiscoveredModel = Static<(typeof modelRoutes.discover)['response']>[number]
export type AddedModel = Static<typeof Model>

/** What to add: something that was found, or another model of a provider whose key was found. */
export interface ModelSelection {
  origin: string
  model_id: string
}

/** What a word means: a name, a provider's name for a model, an origin, or `origin=model`. */
export function selectModels(words: readonly string[], found: readonly DiscoveredModel[]): ModelSelection[] {
  return words.flatMap((word) => {
    const [origin = '', model] = word.split(/=(.*)/s)
    if (model && found.some((one) => one.origin === origin)) return [{ origin, model_id: model }]
    const meant = found.filter(({ name, model_id, origin: where }) => [name, model_id, where].includes(word))
    if (meant.length > 0) return meant
    const key = found.find(({ endpoint }) => endpoint === null)
    throw new CadreError('NOT_FOUND', `No model "${word}" was found.`, {
      hint: `cadre models discover shows what there is.${key ? ` Another model of ${key.provider}: --add ${key.origin}=MODEL` : ''}`,
    })
  })
}

/** Adds what is not there yet, one after the other. */
export async function addModels(
  connection: Connection,
  wanted: readonly ModelSelection[],
  found: readonly DiscoveredModel[],
): Promise<AddedModel[]> {
  const added: AddedModel[] = []
  for (const { origin, model_id } of wanted) {
    const there = found.find((one) => one.origin === origin && one.model_id === model_id)?.added
    if (there) {
      connection.narrate(`${oneLine(model_id)} is here already (${there}).`)
      continue
    }
    const { data } = await call(connection, modelRoutes.adopt, { body: { origin, model_id } })
    connection.narrate(`Added model ${oneLine(data.name)} (${data.id}).`)
    added.push(data)
  }
  return added
}
