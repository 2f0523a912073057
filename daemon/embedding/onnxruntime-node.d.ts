/** The types of onnxruntime-node: 1.16 ships without the declarations its package.json names; these are of the package it hands on. */
declare module 'onnxruntime-node' {
  export * from 'onnxruntime-common'
}
