import type { NotificationGroup } from '@portcullis/contract'
import type { GroupDraft } from './useGroupDraft.ts'

/** What every part of the form gets. */
export interface SectionProps {
  group: NotificationGroup
  entry: GroupDraft
  canWrite: boolean
}
