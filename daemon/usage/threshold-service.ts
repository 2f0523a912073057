/** Manages usage thresholds. */
import { createValidationError } from '../../src/contract/errors.ts'
import { usageThresholds } from '../../src/contract/families/usage.ts'
import { type FamilyInput, Resource } from '../crud/resource.ts'
import type { Database, DatabaseReader } from '../store/database.ts'
import type { EntityType } from './entities.ts'
import { type StoredUsageThreshold, usageThresholdRecords } from './threshold-store.ts'

/** The families that thresholds can apply to. Users have no records. */
export type EntityFamilies = Record<Exclude<EntityType, 'user'>, { exists(reader: DatabaseReader, id: string): Promise<boolean> }>

export class UsageThresholdsService extends Resource<StoredUsageThreshold, FamilyInput<typeof usageThresholds>> {
  constructor(database: Database, getEntityFamilies: () => EntityFamilies) {
    super(database, usageThresholds, usageThresholdRecords, {
      prepare: async (record, _, { transaction, current }) => {
        const { entity_type, entity_id } = record
        if ((entity_type === null) !== (entity_id === null))
          throw createValidationError('entity_id', 'requires entity_type, and vice versa', 'Omit both to count all usage.')
        const isKnown = current !== undefined || entity_type === null || entity_id === null || entity_type === 'user'
        if (!isKnown && !(await getEntityFamilies()[entity_type].exists(transaction, entity_id)))
          throw createValidationError('entity_id', `there is no ${entity_type.replace('_', ' ')} "${entity_id}"`)
        return record
      },
      getLabel: ({ name, metric, limit, period, entity_id }) =>
        name || `${limit} ${metric} a ${period}${entity_id ? ` for ${entity_id}` : ''}`,
      getReferences: ({ entity_type, entity_id }) =>
        entity_id === null || entity_type === 'user' ? [] : [{ field: 'entity_id', target: entity_id, detach: { kind: 'owner' } }],
    })
  }
}
