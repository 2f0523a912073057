import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { EmbeddingService } from '../../daemon/embedding/service.ts'
import { getModelsDirectory } from '../../daemon/inference/paths.ts'
import { computeCosine } from './compute-cosine.ts'
import { readReferenceVectors } from './reference-vectors.ts'
import { VARIED } from './sample-texts.ts'
import { createTestLogger } from './test-logger.ts'

const test = suite('reference model')

test('the vectors of the int8 model agree with the float reference', async () => {
  const service = new EmbeddingService({
    modelsDirectory: getModelsDirectory(),
    resolveRemoteModel: async () => undefined,
    logger: createTestLogger(),
  })
  const embedder = await service.getEmbedder('minilm')
  const ours = await embedder.embed(VARIED)
  await service.close()
  const similarities = readReferenceVectors().map((vector, at) => computeCosine(ours[at] ?? [], vector))
  const mean = similarities.reduce((sum, similarity) => sum + similarity, 0) / similarities.length
  const lowest = Math.min(...similarities)
  console.log(
    `cosine over ${similarities.length} texts: mean ${mean.toFixed(4)}, lowest ${lowest.toFixed(4)} ` +
      `(${JSON.stringify(VARIED[similarities.indexOf(lowest)]?.slice(0, 40))})`,
  )
  assert.is(similarities.length, 100)
  assert.ok(mean >= 0.99, `mean ${mean}`)
  assert.ok(lowest >= 0.97, `lowest ${lowest}`)
})

test.run()
