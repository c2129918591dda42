import type { NotificationGroup } from '#features/contract.ts'
import type { GroupDraft } from './useGroupDraft.ts'

/** Properties of every section of the form. */
export interface SectionProps {
  group: NotificationGroup
  entry: GroupDraft
  canWrite: boolean
}
