/** Loads the learned weights of features. training/train-table-weights.ts writes them. */
import type { Weights } from './rank-queries.ts'
import weights from './weights.json' with { type: 'json' }

export const loadWeights = (): Weights => new Map(Object.entries(weights as Record<string, number>))
