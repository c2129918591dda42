import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Quiet, Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazilyDialog, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { useState } from 'react'
import { gradeLabels } from '#features/commands/console/shared/arming/grade.ts'
import type { AgentDetail, BulkAction } from '#features/contract.ts'
import type { BulkQuestion } from './shared/bulk/useBulkAction.ts'
import { strings } from './strings.ts'

const BulkDialog = lazilyDialog(async () => (await import('./shared/bulk/BulkDialog.tsx')).BulkDialog)

/** The mode of a host, its enforcement grade, pending commands, and buttons to change the mode. */
export const AgentMode = ({ agent, onChanged }: { agent: AgentDetail; onChanged: () => void }) => {
  useIdlePreload(BulkDialog)
  const { session } = useServices()
  const [question, setQuestion] = useState<BulkQuestion | null>(null)
  const ask = (action: BulkAction) => setQuestion({ action, hosts: { uuids: [agent.uuid] } })
  const isArmed = agent.operationalStatus === 'Armed'
  const grade = gradeLabels(agent.policy.enforcement, agent.facts?.osName)
  const waiting = agent.pendingCommands.length
  return (
    <Row wrap small>
      <Quiet>{grade.short}</Quiet>
      {waiting > 0 ? <span>{strings.waitingForHost}</span> : null}
      {session.may('fleet:write') ? (
        <>
          <Button
            size="compact-xs"
            variant={isArmed ? 'default' : 'filled'}
            disabled={!isArmed && !grade.canArm}
            title={!isArmed && !grade.canArm ? grade.long : undefined}
            onClick={() => ask(isArmed ? 'free' : 'arm')}
          >
            {isArmed ? strings.askFree : strings.askArm}
          </Button>
          <Button size="compact-xs" variant="default" onClick={() => ask('approveAll')}>
            {strings.askApproveAll}
          </Button>
        </>
      ) : null}
      {agent.policy.reason === '' ? null : (
        <Text as="p" top={4} small style={{ width: '100%' }}>
          <SeverityTag severity="amber" word={strings.revertedToFree} /> {agent.policy.reason}
        </Text>
      )}
      <BulkDialog question={question} close={() => setQuestion(null)} onDone={onChanged} />
    </Row>
  )
}
