import type { Context } from '@portcullis/platform/server/context.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { IngestApi } from '#features/ingest/server/index.ts'

export interface FeedsContext extends Context {
  audit: Audit
  agents: AgentsApi
  ingest: IngestApi
}
