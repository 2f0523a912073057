/** Writes ONNX models: the part of the format's protocol buffers that a graph of standard operators with weights needs. */

export type Attribute = number | { float: number } | readonly number[]
export type Dimension = number | string
/** Field numbers and element types of onnx.proto3. */
const ELEMENT = { float: 1, int8: 3, int64: 7 } as const
const ATTRIBUTE = { float: 1, int: 2, ints: 7 } as const
const IR_VERSION = 8
const OPSET = 17

type Element = keyof typeof ELEMENT
type Weights = Float32Array | Int8Array | BigInt64Array

export class OnnxGraph {
  readonly #nodes: Uint8Array[] = []
  readonly #weights: Uint8Array[] = []
  readonly #inputs: Uint8Array[] = []
  readonly #outputs: Uint8Array[] = []

  addInput(name: string, element: Element, dimensions: readonly Dimension[]): string {
    this.#inputs.push(encodeValue(name, element, dimensions))
    return name
  }

  addOutput(name: string, element: Element, dimensions: readonly Dimension[]): void {
    this.#outputs.push(encodeValue(name, element, dimensions))
  }

  addWeights(name: string, data: Weights, dimensions: readonly number[]): string {
    const element = data instanceof Float32Array ? 'float' : data instanceof Int8Array ? 'int8' : 'int64'
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    this.#weights.push(
      concatenate([
        ...dimensions.map((dimension) => encodeInteger(1, dimension)),
        encodeInteger(2, ELEMENT[element]),
        encodeText(8, name),
        encodeField(9, bytes),
      ]),
    )
    return name
  }

  /** Adds an operator and returns the name of its first output, which defaults to the operator's own name. */
  addNode(
    operator: string,
    name: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute> = {},
    outputs: readonly string[] = [name],
  ): string {
    const parts = [
      ...inputs.map((input) => encodeText(1, input)),
      ...outputs.map((output) => encodeText(2, output)),
      encodeText(3, name),
      encodeText(4, operator),
    ]
    this.#nodes.push(
      concatenate([...parts, ...Object.entries(attributes).map(([key, setting]) => encodeField(5, encodeAttribute(key, setting)))]),
    )
    return outputs[0] ?? name
  }

  /** `producer` and `version` are at the start of the file, so that they can be read without the rest. */
  serialize(name: string, producer: string): Uint8Array {
    const graph = concatenate([
      ...this.#nodes.map((node) => encodeField(1, node)),
      encodeText(2, name),
      ...this.#weights.map((tensor) => encodeField(5, tensor)),
      ...this.#inputs.map((input) => encodeField(11, input)),
      ...this.#outputs.map((output) => encodeField(12, output)),
    ])
    return concatenate([
      encodeInteger(1, IR_VERSION),
      encodeText(2, producer),
      encodeField(7, graph),
      encodeField(8, concatenate([encodeText(1, ''), encodeInteger(2, OPSET)])),
    ])
  }
}

function encodeAttribute(name: string, setting: Attribute): Uint8Array {
  if (typeof setting === 'number') return concatenate([encodeText(1, name), encodeInteger(3, setting), encodeInteger(20, ATTRIBUTE.int)])
  if ('float' in setting) return concatenate([encodeText(1, name), encodeFloat(2, setting.float), encodeInteger(20, ATTRIBUTE.float)])
  return concatenate([encodeText(1, name), ...setting.map((item) => encodeInteger(8, item)), encodeInteger(20, ATTRIBUTE.ints)])
}

function encodeValue(name: string, element: Element, dimensions: readonly Dimension[]): Uint8Array {
  const shape = dimensions.map((dimension) =>
    encodeField(1, typeof dimension === 'number' ? encodeInteger(1, dimension) : encodeText(2, dimension)),
  )
  return concatenate([
    encodeText(1, name),
    encodeField(2, encodeField(1, concatenate([encodeInteger(1, ELEMENT[element]), encodeField(2, concatenate(shape))]))),
  ])
}

function encodeVarint(number: number | bigint): Uint8Array {
  const bytes: number[] = []
  // Negative numbers use all 64 bits.
  let rest = BigInt.asUintN(64, BigInt(number))
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return Uint8Array.of(...bytes, Number(rest))
}

const encodeInteger = (number: number, content: number) => concatenate([encodeVarint(number << 3), encodeVarint(content)])
const encodeField = (number: number, content: Uint8Array) =>
  concatenate([encodeVarint((number << 3) | 2), encodeVarint(content.length), content])
const encodeText = (number: number, content: string) => encodeField(number, Buffer.from(content))

function encodeFloat(number: number, content: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setFloat32(0, content, true)
  return concatenate([encodeVarint((number << 3) | 5), bytes])
}

const concatenate = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)
