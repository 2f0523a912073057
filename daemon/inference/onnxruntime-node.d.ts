/** Declares the types of onnxruntime-node: version 1.16 lacks the declarations that its package.json names. */
declare module 'onnxruntime-node' {
  export * from 'onnxruntime-common'
}
