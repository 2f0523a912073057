/** Reads tensors of 16-bit or 32-bit floats, or of bytes with a scale per row, from safetensors files. */

export interface Tensor {
  data: Float32Array
  shape: readonly number[]
}

interface Entry {
  dtype: string
  shape: number[]
  data_offsets: [number, number]
}

/** Maps every 16-bit float to a 32-bit float, because Node 20 has no Float16Array. */
const FLOAT16 = Float32Array.from({ length: 0x10000 }, (_, bits) => {
  const sign = bits & 0x8000 ? -1 : 1
  const exponent = (bits >> 10) & 0x1f
  const fraction = bits & 0x3ff
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 0x1f) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
})

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

  has(name: string): boolean {
    return name in this.#entries
  }

  /** A tensor of bytes is multiplied by the scales in the tensor of the same name with the suffix `.scale`. */
  getTensor(name: string): Tensor {
    const entry = this.#entries[name]
    if (!entry) throw new Error(`The weights have no tensor "${name}".`)
    const [from, to] = entry.data_offsets
    const bytes = this.#bytes.subarray(this.#start + from, this.#start + to)
    if (entry.dtype !== 'I8') return { data: toFloat32(entry.dtype, bytes), shape: entry.shape }
    const scales = this.getTensor(`${name}.scale`).data
    const width = entry.shape[1] ?? 1
    const values = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    return { data: Float32Array.from(values, (value, index) => value * (scales[Math.floor(index / width)] ?? 0)), shape: entry.shape }
  }
}

function toFloat32(type: string, bytes: Buffer): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (type === 'F32') return Float32Array.from({ length: bytes.length / 4 }, (_, index) => view.getFloat32(index * 4, true))
  if (type !== 'F16') throw new Error(`Unsupported weight type: ${type}`)
  const numbers = new Float32Array(bytes.length / 2)
  for (let index = 0; index < numbers.length; index++) numbers[index] = FLOAT16[view.getUint16(index * 2, true)] ?? 0
  return numbers
}
