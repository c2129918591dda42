import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { type AuditAction, auditActions, auditAreaNames } from '#features/contract.ts'

const all = Object.entries(auditActions)

/** The sentences by action, or by action and variant. */
export const sentences = messages(
  Object.fromEntries(
    all.flatMap(([code, { sentence, variants }]) => [
      [code, sentence],
      ...Object.entries(variants).map(([variant, text]) => [`${code}.${variant}`, text]),
    ]),
  ),
)
export const actionNames = messages(
  Object.fromEntries(all.map(([code, { name }]) => [code, name])) as Record<AuditAction, string>,
)
export const areaNames = messages(auditAreaNames)
