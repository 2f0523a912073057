/** Types of the parts of WebAssembly, tesseract.js-core and utif2 that are used. */

/** Node's types have only the names. */
declare namespace WebAssembly {
  type Imports = Record<string, unknown>
  type Exports = Record<string, unknown>
  class Memory {
    readonly buffer: ArrayBuffer
  }
  class Module {
    constructor(bytes: Uint8Array)
  }
  class Instance {
    constructor(module: Module, imports: Imports)
    readonly exports: Exports
  }
  class RuntimeError extends Error {}
}

interface TesseractApi {
  Init(path: string, languages: string, engine: number): number
  SetImage(address: number, width: number, height: number, bytesPerPixel: number, bytesPerLine: number): void
  SetSourceResolution(dotsPerInch: number): void
  FindLines(): number
  GetGradient(): number
  Recognize(monitor: null): number
  GetTSVText(page: number): string
  Clear(): void
}

interface TesseractCore {
  FS: { writeFile(path: string, bytes: Uint8Array): void }
  TessBaseAPI: new () => TesseractApi
  _malloc(bytes: number): number
  _free(address: number): void
  /** Returns the address of Leptonica's Pix, or 0. */
  _pixReadMem(address: number, length: number): number
  /** Takes the address of its address. */
  _pixDestroy(address: number): void
}

declare module 'tesseract.js-core/tesseract-core-simd-lstm.js' {
  export default function createCore(options: {
    print(text: string): void
    printErr(text: string): void
    instantiateWasm(imports: WebAssembly.Imports, onInstance: (instance: WebAssembly.Instance) => void): WebAssembly.Exports
  }): Promise<TesseractCore>
}

declare module 'utif2' {
  interface Image extends Record<`t${number}`, number[] | undefined> {
    width: number
    height: number
  }
  export function decode(bytes: Uint8Array): Image[]
  export function decodeImage(bytes: Uint8Array, image: Image): void
  export function toRGBA8(image: Image): Uint8Array
}
