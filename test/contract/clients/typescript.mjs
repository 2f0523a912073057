/** TypeScript 5 for the generators. Loaded with require, because import searches its source for named exports, for a second. */
import { createRequire } from 'node:module'

export default createRequire(import.meta.url)('@ts-morph/common/dist/typescript.js')
