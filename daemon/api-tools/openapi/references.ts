/** What `$ref` leads to within one document. */
import { Inexpressible, isObject, type JsonObject, objectOf, ownOf, textOf } from './json.ts'

const MOST_STEPS = 50

export class References {
  readonly #root: JsonObject

  constructor(root: JsonObject) {
    this.#root = root
  }

  /** The object itself, or the one that its references lead to. */
  resolved(value: unknown): JsonObject {
    let found = objectOf(value)
    for (let step = 0; typeof found.$ref === 'string'; step++) {
      if (step === MOST_STEPS) throw new Inexpressible(`${found.$ref} refers to itself`)
      found = objectOf(this.at(found.$ref))
    }
    return found
  }

  /** What a pointer such as #/components/schemas/Pet points at. */
  at(pointer: string): unknown {
    if (!pointer.startsWith('#')) throw new Inexpressible(`it refers to another document (${pointer.slice(0, 100)})`)
    let found: unknown = this.#root
    for (const part of pointer.slice(1).split('/').slice(1))
      found = Array.isArray(found) ? found[Number(part)] : ownOf(found, unescaped(part))
    if (!isObject(found) && typeof found !== 'boolean') throw new Inexpressible(`${pointer.slice(0, 100)} leads nowhere`)
    return found
  }

  /** The last part of the pointer that a schema refers by: people know it by that. */
  static nameOf(pointer: string): string {
    return unescaped(textOf(pointer.split('/').at(-1))).slice(0, 100)
  }
}

function unescaped(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~')
  try {
    return decodeURIComponent(plain)
  } catch {
    return plain // a percent sign that encodes nothing
  }
}
