import type { Context } from '@portcullis/platform/server/context.ts'
import type { Audit } from '#features/audit/server/index.ts'

export interface TagsContext extends Context {
  audit: Audit
}
