/** Resolves `$ref` within one document. */
import { getOwn, isObject, type JsonObject, toObject, toText, UnsupportedOperationError } from './json.ts'

const MAX_REFERENCE_STEPS = 50

export class ReferenceResolver {
  readonly #root: JsonObject

  constructor(root: JsonObject) {
    this.#root = root
  }

  resolve(value: unknown): JsonObject {
    let target = toObject(value)
    for (let step = 0; typeof target.$ref === 'string'; step++) {
      if (step === MAX_REFERENCE_STEPS) throw new UnsupportedOperationError(`${target.$ref} refers to itself`)
      target = toObject(this.getTarget(target.$ref))
    }
    return target
  }

  /** Finds the target of a pointer such as #/components/schemas/Pet. */
  getTarget(pointer: string): unknown {
    if (!pointer.startsWith('#')) throw new UnsupportedOperationError(`it refers to another document (${pointer.slice(0, 100)})`)
    let target: unknown = this.#root
    for (const part of pointer.slice(1).split('/').slice(1))
      target = Array.isArray(target) ? target[Number(part)] : getOwn(target, unescapePointer(part))
    if (!isObject(target) && typeof target !== 'boolean') throw new UnsupportedOperationError(`${pointer.slice(0, 100)} does not exist`)
    return target
  }

  /** Returns the last part of a pointer. */
  static getName(pointer: string): string {
    return unescapePointer(toText(pointer.split('/').at(-1))).slice(0, 100)
  }
}

function unescapePointer(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain // a percent sign that is not an escape
  }
}
