/** Writes ONNX models: just enough of the format's protocol buffers for a graph of standard operators with its weights inside. */

export type Attribute = number | { float: number } | readonly number[]
export type Dimension = number | string
/** Field numbers and element types are those of onnx.proto3. */
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

  input(name: string, element: Element, dimensions: readonly Dimension[]): string {
    this.#inputs.push(value(name, element, dimensions))
    return name
  }

  output(name: string, element: Element, dimensions: readonly Dimension[]): void {
    this.#outputs.push(value(name, element, dimensions))
  }

  weights(name: string, data: Weights, dimensions: readonly number[]): string {
    const element = data instanceof Float32Array ? 'float' : data instanceof Int8Array ? 'int8' : 'int64'
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    this.#weights.push(
      joined([...dimensions.map((dimension) => integer(1, dimension)), integer(2, ELEMENT[element]), text(8, name), field(9, bytes)]),
    )
    return name
  }

  /** Adds an operator and answers the names of what it yields: as many as are named, one of the operator's own name by default. */
  node(
    operator: string,
    name: string,
    inputs: readonly string[],
    attributes: Record<string, Attribute> = {},
    outputs: readonly string[] = [name],
  ): string {
    const parts = [...inputs.map((input) => text(1, input)), ...outputs.map((output) => text(2, output)), text(3, name), text(4, operator)]
    this.#nodes.push(joined([...parts, ...Object.entries(attributes).map(([key, setting]) => field(5, attribute(key, setting)))]))
    return outputs[0] ?? name
  }

  /** The whole model; `producer` and `version` come first in the file, where they can be read without the rest. */
  model(name: string, producer: string, version: string): Uint8Array {
    const graph = joined([
      ...this.#nodes.map((node) => field(1, node)),
      text(2, name),
      ...this.#weights.map((tensor) => field(5, tensor)),
      ...this.#inputs.map((input) => field(11, input)),
      ...this.#outputs.map((output) => field(12, output)),
    ])
    return joined([
      integer(1, IR_VERSION),
      text(2, producer),
      text(3, version),
      field(7, graph),
      field(8, joined([text(1, ''), integer(2, OPSET)])),
    ])
  }
}

function attribute(name: string, setting: Attribute): Uint8Array {
  if (typeof setting === 'number') return joined([text(1, name), integer(3, setting), integer(20, ATTRIBUTE.int)])
  if ('float' in setting) return joined([text(1, name), float(2, setting.float), integer(20, ATTRIBUTE.float)])
  return joined([text(1, name), ...setting.map((item) => integer(8, item)), integer(20, ATTRIBUTE.ints)])
}

function value(name: string, element: Element, dimensions: readonly Dimension[]): Uint8Array {
  const shape = dimensions.map((dimension) => field(1, typeof dimension === 'number' ? integer(1, dimension) : text(2, dimension)))
  return joined([text(1, name), field(2, field(1, joined([integer(1, ELEMENT[element]), field(2, joined(shape))])))])
}

function varint(number: number | bigint): Uint8Array {
  const bytes: number[] = []
  // Negative numbers are written as their 64 bits.
  let rest = BigInt.asUintN(64, BigInt(number))
  while (rest > 0x7fn) {
    bytes.push(Number(rest & 0x7fn) | 0x80)
    rest >>= 7n
  }
  return Uint8Array.of(...bytes, Number(rest))
}

const integer = (number: number, content: number) => joined([varint(number << 3), varint(content)])
const field = (number: number, content: Uint8Array) => joined([varint((number << 3) | 2), varint(content.length), content])
const text = (number: number, content: string) => field(number, Buffer.from(content))

function float(number: number, content: number): Uint8Array {
  const bytes = new Uint8Array(4)
  new DataView(bytes.buffer).setFloat32(0, content, true)
  return joined([varint((number << 3) | 5), bytes])
}

const joined = (parts: readonly Uint8Array[]): Uint8Array => Buffer.concat(parts)
