/** Reads safetensors files: named tensors of 16- or 32-bit floats. */

export interface Tensor {
  data: Float32Array
  shape: readonly number[]
}

interface Entry {
  dtype: string
  shape: number[]
  data_offsets: [number, number]
}

export class Safetensors {
  readonly #bytes: Buffer
  readonly #start: number
  readonly #entries: Record<string, Entry>

  constructor(bytes: Buffer) {
    const length = Number(bytes.readBigUInt64LE(0))
    this.#bytes = bytes
    this.#start = 8 + length
    this.#entries = JSON.parse(bytes.toString('utf8', 8, this.#start)) as Record<string, Entry>
  }

  tensor(name: string): Tensor {
    const entry = this.#entries[name]
    if (!entry) throw new Error(`There is no tensor "${name}" in the weights.`)
    const [from, to] = entry.data_offsets
    const bytes = this.#bytes.subarray(this.#start + from, this.#start + to)
    return { data: floats(entry.dtype, bytes), shape: entry.shape }
  }
}

function floats(type: string, bytes: Buffer): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (type === 'F32') return Float32Array.from({ length: bytes.length / 4 }, (_, at) => view.getFloat32(at * 4, true))
  if (type !== 'F16') throw new Error(`Weights of the type ${type} are not understood.`)
  const halves = halfTable()
  const numbers = new Float32Array(bytes.length / 2)
  for (let at = 0; at < numbers.length; at++) numbers[at] = halves[view.getUint16(at * 2, true)] ?? 0
  return numbers
}

/** Every 16-bit float as a 32-bit one: Node 20 cannot read them by itself. */
function halfTable(): Float32Array {
  return Float32Array.from({ length: 0x10000 }, (_, bits) => {
    const sign = bits & 0x8000 ? -1 : 1
    const exponent = (bits >> 10) & 0x1f
    const fraction = bits & 0x3ff
    if (exponent === 0) return sign * fraction * 2 ** -24
    if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
    return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
  })
}
