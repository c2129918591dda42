import type { Context } from '@portcullis/platform/server/context.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { TagGate } from './ports.ts'

export interface TagsContext extends Context {
  audit: Audit
  gate: TagGate
}
