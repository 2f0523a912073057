/** Builds the layers of MiniLM as an int8 ONNX graph. */
import type { OnnxGraph } from './onnx-writer.ts'
import type { Safetensors, Tensor } from './safetensors.ts'

export interface ModelConfig {
  hidden_size: number
  num_attention_heads: number
  layer_norm_eps: number
}

/**
 * Weights have 7 bits: without VNNI, x64 adds two products of an unsigned and a signed byte in 16 bits,
 * and 255 × 127 × 2 overflows while 255 × 64 × 2 does not.
 */
const WEIGHT_LIMIT = 64
const TABLE_LIMIT = 127
/** The minimum of Gelu is -0.17. */
const GELU_DEPTH = 0.17

export class LayerBuilder {
  readonly #graph: OnnxGraph
  readonly #weights: Safetensors
  readonly #config: ModelConfig
  readonly #maxTokens: number

  /** @param maxTokens number of positions that the model was trained with */
  constructor(graph: OnnxGraph, weights: Safetensors, config: ModelConfig, maxTokens: number) {
    this.#graph = graph
    this.#weights = weights
    this.#config = config
    this.#maxTokens = maxTokens
    const numbers = { one: 1, half: 0.5, 'sqrt two': Math.SQRT2, 'gelu depth': GELU_DEPTH }
    for (const [name, number] of Object.entries(numbers)) graph.addWeights(name, Float32Array.of(number), [])
    graph.addWeights('zero', BigInt64Array.of(0n), [1])
    const width = BigInt(config.hidden_size / config.num_attention_heads)
    graph.addWeights('heads', BigInt64Array.of(0n, BigInt(config.num_attention_heads), width), [3])
    graph.addWeights('hidden', BigInt64Array.of(0n, BigInt(config.hidden_size)), [2])
  }

  /** Returns the state of each token after the last layer. The model reads one text per run, so it needs no attention mask. */
  addEncoder(ids: string): string {
    let state = this.#addEmbedding(ids)
    for (let index = 0; this.#weights.has(`encoder.layer.${index}.output.LayerNorm.bias`); index++) state = this.#addLayer(index, state)
    return state
  }

  #addEmbedding(ids: string): string {
    const graph = this.#graph
    const table = this.#weights.getTensor('embeddings.word_embeddings.weight')
    const [rows = 0, width = 0] = table.shape
    const { values, scales } = quantize(table, TABLE_LIMIT)
    const bytes = graph.addNode('Gather', 'word bytes', [graph.addWeights('words', values, [rows, width]), ids])
    const scale = graph.addNode('Gather', 'word scale', [graph.addWeights('words scale', scales, [rows, 1]), ids])
    const word = graph.addNode('Mul', 'word', [graph.addNode('Cast', 'word number', [bytes], { to: 1 }), scale])
    const count = graph.addNode('Shape', 'count', [ids])
    const position = graph.addNode('Slice', 'position', [
      graph.addWeights('positions', this.#createPositionTable(width), [this.#maxTokens, width]),
      'zero',
      count,
      'zero',
    ])
    return this.#addNorm('embeddings.LayerNorm', graph.addNode('Add', 'word and position', [word, position]))
  }

  /** Adds the token type embedding, which is the same for every token. The reading model's positions include it. */
  #createPositionTable(width: number): Float32Array {
    const name = 'embeddings.token_type_embeddings.weight'
    const types = this.#weights.has(name) ? this.#weights.getTensor(name).data : new Float32Array(width)
    const positions = this.#weights.getTensor('embeddings.position_embeddings.weight').data
    return positions.slice(0, this.#maxTokens * width).map((number, index) => number + (types[index % width] ?? 0))
  }

  #addLayer(index: number, state: string): string {
    const graph = this.#graph
    const name = `encoder.layer.${index}`
    const attended = this.#addLinear(`${name}.attention.output.dense`, this.#addAttention(`${name}.attention.self`, state))
    const normalized = this.#addNorm(`${name}.attention.output.LayerNorm`, graph.addNode('Add', `${name} first sum`, [attended, state]))
    const widened = this.#addGelu(name, this.#addLinear(`${name}.intermediate.dense`, normalized))
    const narrowed = this.#addScaledLinear(`${name}.output.dense`, widened)
    return this.#addNorm(`${name}.output.LayerNorm`, graph.addNode('Add', `${name} second sum`, [narrowed, normalized]))
  }

  /** Computes query, key and value in one product. The query's weights include the scaling of the scores. */
  #addAttention(name: string, state: string): string {
    const graph = this.#graph
    const root = Math.sqrt(this.#config.hidden_size / this.#config.num_attention_heads)
    const parts = ['query', 'key', 'value'].map((part) => this.#getParameters(`${name}.${part}`, part === 'query' ? 1 / root : 1))
    const product = this.#addProduct(name, state, stack(parts.map(({ weight }) => weight)))
    const biased = this.#addBias(name, product, concatenate(parts.map(({ bias }) => bias)))
    const [query, key, value] = ['query', 'key', 'value'].map((part) => `${name} ${part}`) as [string, string, string]
    graph.addNode('Split', `${name} split`, [biased], { axis: -1 }, [query, key, value])
    const heads = (part: string, order: number[]) =>
      graph.addNode('Transpose', `${part} turned`, [graph.addNode('Reshape', `${part} heads`, [part, 'heads'])], { perm: order })
    const scores = graph.addNode('MatMul', `${name} scores`, [heads(query, [1, 0, 2]), heads(key, [1, 2, 0])])
    const mixed = graph.addNode('MatMul', `${name} mixed`, [
      graph.addNode('Softmax', `${name} shares`, [scores], { axis: -1 }),
      heads(value, [1, 0, 2]),
    ])
    return graph.addNode('Reshape', `${name} joined`, [graph.addNode('Transpose', `${name} back`, [mixed], { perm: [1, 0, 2] }), 'hidden'])
  }

  #addLinear(name: string, state: string): string {
    const { weight, bias } = this.#getParameters(name, 1)
    return this.#addBias(name, this.#addProduct(name, state, weight), bias)
  }

  /**
   * Divides each token by its largest value before the product and multiplies it afterwards. A few tokens have values ten
   * times those of the others, which a common scale would quantize too coarsely. Halves the model's error for 3 % more time.
   */
  #addScaledLinear(name: string, state: string): string {
    const graph = this.#graph
    const { weight, bias } = this.#getParameters(name, 1)
    const largest = graph.addNode('ReduceMax', `${name} largest`, [state], { axes: [-1], keepdims: 1 })
    const size = graph.addNode('Max', `${name} size`, [largest, 'gelu depth'])
    const product = this.#addProduct(name, graph.addNode('Div', `${name} evened`, [state, size]), weight)
    return this.#addBias(name, graph.addNode('Mul', `${name} restored`, [product, size]), bias)
  }

  #getParameters(name: string, factor: number): { weight: Tensor; bias: Float32Array } {
    const scaled = (data: Float32Array) => (factor === 1 ? data : data.map((number) => number * factor))
    const { data, shape } = this.#weights.getTensor(`${name}.weight`)
    return { weight: { data: scaled(data), shape }, bias: scaled(this.#weights.getTensor(`${name}.bias`).data) }
  }

  /**
   * Multiplies bytes, with a scale for each output: a common scale costs six points of similarity. onnxruntime fuses this
   * pattern into one operator.
   */
  #addProduct(name: string, state: string, weight: Tensor): string {
    const graph = this.#graph
    const [outputs = 0, inputs = 0] = weight.shape
    const { values, scales } = quantize(weight, WEIGHT_LIMIT)
    const [bytes, scale, zero] = ['bytes', 'scale', 'zero'].map((part) => `${name} ${part}`) as [string, string, string]
    graph.addNode('DynamicQuantizeLinear', `${name} quantize`, [state], {}, [bytes, scale, zero])
    const matrix = graph.addWeights(`${name} weight`, transpose(values, outputs, inputs), [inputs, outputs])
    const sums = graph.addNode('MatMulInteger', `${name} sums`, [
      bytes,
      matrix,
      zero,
      graph.addWeights(`${name} weight zero`, new Int8Array(1), []),
    ])
    const factor = graph.addNode('Mul', `${name} factor`, [scale, graph.addWeights(`${name} weight scale`, scales, [outputs])])
    return graph.addNode('Mul', `${name} product`, [graph.addNode('Cast', `${name} number`, [sums], { to: 1 }), factor])
  }

  #addBias(name: string, product: string, bias: Float32Array): string {
    return this.#graph.addNode('Add', `${name} linear`, [product, this.#graph.addWeights(`${name} bias`, bias, [bias.length])])
  }

  #addNorm(name: string, state: string): string {
    const part = (which: string) => {
      const { data, shape } = this.#weights.getTensor(`${name}.${which}`)
      return this.#graph.addWeights(`${name} ${which}`, data, shape)
    }
    return this.#graph.addNode('LayerNormalization', name, [state, part('weight'), part('bias')], {
      axis: -1,
      epsilon: { float: this.#config.layer_norm_eps },
    })
  }

  #addGelu(name: string, state: string): string {
    const graph = this.#graph
    const curve = graph.addNode('Erf', `${name} curve`, [graph.addNode('Div', `${name} divided`, [state, 'sqrt two'])])
    const gate = graph.addNode('Add', `${name} gate`, [curve, 'one'])
    return graph.addNode('Mul', `${name} gelu`, [graph.addNode('Mul', `${name} gated`, [state, gate]), 'half'])
  }
}

/** Returns bytes and a scale for each row. */
function quantize({ data, shape }: Tensor, limit: number): { values: Int8Array; scales: Float32Array } {
  const [rows = 0, width = 0] = shape
  const values = new Int8Array(data.length)
  const scales = new Float32Array(rows)
  for (let row = 0; row < rows; row++) {
    const numbers = data.subarray(row * width, (row + 1) * width)
    let largest = 0
    for (const number of numbers) largest = Math.max(largest, Math.abs(number))
    const scale = largest === 0 ? 1 : largest / limit
    scales[row] = scale
    for (let column = 0; column < width; column++) values[row * width + column] = Math.round((numbers[column] ?? 0) / scale)
  }
  return { values, scales }
}

function transpose(values: Int8Array, rows: number, columns: number): Int8Array {
  const result = new Int8Array(values.length)
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) result[column * rows + row] = values[row * columns + column] ?? 0
  return result
}

const stack = (tensors: readonly Tensor[]): Tensor => ({
  data: concatenate(tensors.map(({ data }) => data)),
  shape: [tensors.reduce((rows, { shape }) => rows + (shape[0] ?? 0), 0), tensors[0]?.shape[1] ?? 0],
})

function concatenate(parts: readonly Float32Array[]): Float32Array {
  const result = new Float32Array(parts.reduce((length, part) => length + part.length, 0))
  let offset = 0
  for (const part of parts) {
    result.set(part, offset)
    offset += part.length
  }
  return result
}
