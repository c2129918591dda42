import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { RuleEditor } from './RuleEditor.tsx'
import type { RuleDraft } from './shared/rule-draft.ts'
import { strings } from './strings.ts'
import { useRule } from './useRule.ts'

export interface RuleDrawerProps {
  /** Id of the rule, or `new`. */
  id: string
  isGrant: boolean
  start: RuleDraft
  canWrite: boolean
  close: () => void
}

/** The drawer of a rule or grant. */
export const RuleDrawer = ({ id, isGrant, start, canWrite, close }: RuleDrawerProps) => {
  const rule = useRule(id)
  const body =
    id === 'new' ? (
      <RuleEditor rule={null} start={start} isGrant={isGrant} canWrite={canWrite} close={close} />
    ) : rule.data !== undefined && rule.data !== null ? (
      // If another person saves the rule, the input here stays.
      <RuleEditor
        rule={rule.data}
        start={start}
        isGrant={rule.data.level === 'grant'}
        canWrite={canWrite}
        close={close}
      />
    ) : rule.error !== null ? (
      <ErrorState query={rule} />
    ) : rule.data === null ? (
      <EmptyState icon="policy" title={isGrant ? strings.grantNotFound : strings.ruleNotFound}>
        <p>{strings.notFoundHint}</p>
      </EmptyState>
    ) : (
      <DetailSkeleton />
    )
  return (
    <SidePanel isWide label={isGrant ? strings.grant : strings.rule} close={close}>
      {body}
    </SidePanel>
  )
}
