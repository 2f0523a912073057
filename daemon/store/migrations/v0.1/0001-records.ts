/** Migration 0001: resources and their links. */
import { EMBEDDED_MODEL_ID } from '../../../../src/contract/families/models.ts'
import { createResourceTable, type Migration } from '../../migration.ts'

export const records: Migration = {
  name: '0001-records',
  async up(transaction) {
    await transaction.run('CREATE TABLE counts (name TEXT PRIMARY KEY, total INTEGER NOT NULL) WITHOUT ROWID')
    await transaction.run(
      `CREATE TABLE links (target_id TEXT NOT NULL, owner_family TEXT NOT NULL, owner_id TEXT NOT NULL, owner_name TEXT NOT NULL,
        field TEXT NOT NULL, detach TEXT NOT NULL, PRIMARY KEY (target_id, owner_family, owner_id, field)) WITHOUT ROWID`,
    )
    await transaction.run('CREATE INDEX links_by_owner ON links (owner_id)')
    await transaction.run(
      `CREATE TABLE idempotency (token_id TEXT NOT NULL, key TEXT NOT NULL, fingerprint TEXT NOT NULL, reply TEXT NOT NULL,
        created_at TEXT NOT NULL, PRIMARY KEY (token_id, key)) WITHOUT ROWID`,
    )
    await transaction.run('CREATE INDEX idempotency_by_age ON idempotency (created_at)')
    const table = createResourceTable.bind(undefined, transaction)
    await table(
      'models',
      `name TEXT NOT NULL, provider TEXT NOT NULL, model_id TEXT NOT NULL, endpoint TEXT, pricing TEXT, has_api_key INTEGER NOT
        NULL, api_key TEXT`,
      ['name', 'provider', 'model_id', 'endpoint', 'has_api_key'],
    )
    await table(
      'prompt_templates',
      'name TEXT NOT NULL, description TEXT NOT NULL, template TEXT NOT NULL, variables TEXT NOT NULL, type TEXT NOT NULL',
      ['name', 'type', 'version'],
    )
    await table(
      'knowledge_sources',
      'name TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL, last_sync TEXT, configuration TEXT NOT NULL',
      ['name', 'type', 'status', 'last_sync'],
    )
    await table(
      'documents',
      `knowledge_source_id TEXT NOT NULL, name TEXT NOT NULL, type TEXT NOT NULL, size INTEGER NOT NULL, content_hash TEXT NOT NULL,
        status TEXT NOT NULL, error TEXT, pages INTEGER, chunks INTEGER NOT NULL, metadata TEXT NOT NULL`,
      ['content_hash'],
    )
    await transaction.run('CREATE INDEX documents_of_source_by_created_at ON documents (knowledge_source_id, created_at, id)')
    for (const column of ['type', 'size', 'status', 'updated_at'])
      await transaction.run(`CREATE INDEX documents_of_source_by_${column} ON documents (knowledge_source_id, ${column}, created_at, id)`)
    await transaction.run('CREATE UNIQUE INDEX documents_by_name ON documents (knowledge_source_id, name)')
    await table(
      'rag_tools',
      `name TEXT NOT NULL, description TEXT NOT NULL, knowledge_source_id TEXT, embedding_model TEXT NOT NULL, chunk_size INTEGER
        NOT NULL, chunk_overlap INTEGER NOT NULL, top_k INTEGER NOT NULL, model_id TEXT`,
      ['name', 'knowledge_source_id', 'embedding_model', 'chunk_size', 'chunk_overlap', 'top_k', 'model_id'],
    )
    await table(
      'retrieval_tools',
      `name TEXT NOT NULL, description TEXT NOT NULL, knowledge_source_ids TEXT NOT NULL, search_method TEXT NOT NULL, top_k INTEGER
        NOT NULL, score_threshold REAL, filters TEXT NOT NULL, embedding_model TEXT NOT NULL, chunk_size INTEGER NOT NULL,
        chunk_overlap INTEGER NOT NULL`,
      ['name', 'search_method', 'top_k', 'score_threshold', 'embedding_model', 'chunk_size', 'chunk_overlap'],
    )
    await table(
      'api_tools',
      `name TEXT NOT NULL, description TEXT NOT NULL, method TEXT NOT NULL, url TEXT NOT NULL, parameters TEXT NOT NULL, timeout_ms
        INTEGER NOT NULL, allow_private_network INTEGER NOT NULL, requires_confirmation INTEGER NOT NULL, header_names TEXT NOT
        NULL, auth TEXT NOT NULL, secrets TEXT`,
      ['name', 'method', 'url', 'timeout_ms', 'allow_private_network', 'requires_confirmation'],
    )
    await table(
      'agents',
      `name TEXT NOT NULL, description TEXT NOT NULL, system_prompt TEXT NOT NULL, model_id TEXT, temperature REAL, max_tokens
        INTEGER, tools TEXT NOT NULL, topics TEXT NOT NULL, prompt_template_id TEXT, variables TEXT NOT NULL`,
      ['name', 'model_id', 'temperature', 'max_tokens', 'prompt_template_id'],
    )
    await table('conversations', 'agent_id TEXT, user_id TEXT NOT NULL, title TEXT, status TEXT NOT NULL', [
      'agent_id',
      'user_id',
      'title',
      'status',
    ])
    await transaction.run(
      `CREATE TABLE messages (id TEXT PRIMARY KEY, conversation_id TEXT NOT NULL, role TEXT NOT NULL, content TEXT NOT NULL, details
        TEXT NOT NULL, created_at TEXT NOT NULL) WITHOUT ROWID`,
    )
    await transaction.run('CREATE INDEX messages_of_conversation ON messages (conversation_id, created_at, id)')
    await table(
      'evaluations',
      'name TEXT NOT NULL, description TEXT NOT NULL, type TEXT NOT NULL, target_id TEXT, scorers TEXT NOT NULL, test_cases TEXT NOT NULL',
      ['name', 'type', 'target_id'],
    )
    await table(
      'usage_thresholds',
      'entity_type TEXT, entity_id TEXT, metric TEXT NOT NULL, "limit" REAL NOT NULL, period TEXT NOT NULL, action TEXT NOT NULL',
      ['entity_type', 'entity_id', 'metric', 'period', 'action'],
    )
    await table(
      'webhooks',
      `url TEXT NOT NULL, events TEXT NOT NULL, description TEXT NOT NULL, enabled INTEGER NOT NULL, allow_private_network INTEGER
        NOT NULL, secret TEXT NOT NULL`,
      ['url', 'enabled', 'allow_private_network'],
    )
    await table(
      'tokens',
      'name TEXT NOT NULL, role TEXT NOT NULL, user_id TEXT, expires_at TEXT, last_used_at TEXT, hash TEXT NOT NULL UNIQUE',
      ['name', 'role', 'user_id', 'expires_at', 'last_used_at'],
    )
    await transaction.run(
      `CREATE TABLE settings (id TEXT PRIMARY KEY, default_model_id TEXT NOT NULL, version INTEGER NOT NULL, updated_at TEXT NOT
        NULL) WITHOUT ROWID`,
    )
    const now = new Date().toISOString()
    await transaction.run(
      `INSERT INTO models (id, name, provider, model_id, pricing, has_api_key, created_at, updated_at)
        VALUES (?, 'Embedded', 'embedded', 'embedded', '{"input":0,"output":0}', 0, ?, ?)`,
      [EMBEDDED_MODEL_ID, now, now],
    )
    await transaction.run("INSERT INTO settings (id, default_model_id, version, updated_at) VALUES ('settings', ?, 1, ?)", [
      EMBEDDED_MODEL_ID,
      now,
    ])
  },
}
