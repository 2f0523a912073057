/** Access tokens: who a secret belongs to, and what its owner may do. */
import { hash, randomBytes } from 'node:crypto'
import type { Static } from 'typebox'
import { CadreError, invalid } from '../../src/contract/errors.ts'
import { type TokenCreate, type TokenCreated, type TokenUpdate, tokens } from '../../src/contract/tokens.ts'
import type { Caller, Change } from '../core/caller.ts'
import { Resource } from '../crud/service.ts'
import type { Database, Reader } from '../store/database.ts'
import { adminsLeft, markUsed, type StoredToken, tokenRecords } from './store.ts'

type TokenInput = Static<typeof TokenCreate> | Static<typeof TokenUpdate>

interface Known {
  caller: Caller
  expires: number
  usedMinute: number
}

const MINUTE = 60_000
export const newSecret = (): string => `cadre_${randomBytes(32).toString('base64url')}`
const digest = (secret: string) => hash('sha256', secret, 'hex')

export class TokensService extends Resource<StoredToken, TokenInput> {
  /** By their secrets: every request asks for its token, and only the first one works out its digest and asks the database. */
  readonly #known = new Map<string, Known>()

  constructor(database: Database) {
    super(database, tokens, tokenRecords, {
      prepare: async (record, given, { transaction, current }) => {
        if (record.role === 'member' && record.user_id === null)
          throw invalid('user_id', 'is required for the role member', 'It says whose conversations the token may see.')
        // A leap second is a time to the schema, and none to JavaScript.
        if (given.expires_at && Number.isNaN(Date.parse(given.expires_at))) throw invalid('expires_at', 'is no time that can be kept')
        if (given.expires_at && Date.parse(given.expires_at) <= Date.now()) throw invalid('expires_at', 'must lie in the future')
        if (current && given.expires_at) await keepAnAdmin(transaction, current)
        return { ...record, expires_at: record.expires_at && new Date(record.expires_at).toISOString() }
      },
      remove: keepAnAdmin,
    })
  }

  /** Creates a token and shows its secret, this once. */
  async createWithSecret(change: Change, input: Static<typeof TokenCreate>, secret = newSecret()): Promise<Static<typeof TokenCreated>> {
    return this.create(change, { ...input, hash: digest(secret) } as TokenInput, { token: secret })
  }

  override async update(change: Change, id: string, input: TokenInput): Promise<StoredToken> {
    return super.update(change, id, input).finally(() => this.#known.clear())
  }

  override async remove(change: Change, id: string, force = false): Promise<string> {
    // Also where it throws: a disk that fails last may have written it all the same.
    return super.remove(change, id, force).finally(() => this.#known.clear())
  }

  async authenticate(secret: string): Promise<Caller | undefined> {
    const known = this.#known.get(secret) ?? (await this.#find(secret))
    const now = Date.now()
    if (!known || known.expires <= now) return undefined
    const minute = Math.floor(now / MINUTE)
    if (known.usedMinute !== minute) {
      known.usedMinute = minute
      // Not waited for, and no reason to refuse a request: on a full disk reading goes on.
      markUsed(this.database, known.caller.tokenId, new Date(minute * MINUTE).toISOString()).catch(() => undefined)
    }
    return known.caller
  }

  async #find(secret: string): Promise<Known | undefined> {
    const [record] = await this.records.find(this.database, { hash: digest(secret) })
    if (!record) return undefined
    const known: Known = {
      caller: { tokenId: record.id, role: record.role, userId: record.user_id },
      expires: record.expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(record.expires_at),
      usedMinute: 0,
    }
    this.#known.set(secret, known)
    return known
  }
}

async function keepAnAdmin(reader: Reader, { id, role, expires_at }: StoredToken): Promise<void> {
  if (role !== 'admin' || expires_at !== null || (await adminsLeft(reader, id)) > 0) return
  throw new CadreError('CONFLICT', 'This is the last admin token that stays; without it nobody could make another.', {
    hint: 'Create another admin token first, one that does not expire.',
  })
}
