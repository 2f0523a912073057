/** A process that runs the embedded models. */
import { serveJobs } from '../workers/serve-jobs.ts'
import { EmbeddingModel } from './embedding-model.ts'
import { MinilmTokenizer } from './minilm-tokenizer.ts'
import type { ModelResult, ModelTask } from './model-task.ts'
import { ReadingModel } from './reading-model.ts'

await serveJobs<ModelTask, ModelResult>(async () => {
  const directory = process.argv[2] ?? ''
  const tokenizer = MinilmTokenizer.load(directory)
  const embeddingModel = await EmbeddingModel.load(directory, tokenizer)
  // Loaded with the first question, because most workers only embed.
  let readingModel: Promise<ReadingModel> | undefined
  return async ({ text, question }) => {
    if (question === undefined) return embeddingModel.embed(text)
    readingModel ??= ReadingModel.load(directory, tokenizer)
    return (await readingModel).read(question, text)
  }
})
