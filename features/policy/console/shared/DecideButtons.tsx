import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazilyDialog, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { useState } from 'react'
import type { Peripheral } from '#features/contract.ts'
import type { DecideQuestion } from './DecideDialog.tsx'
import type { DecideStart } from './decide.ts'
import { strings } from './strings.ts'

const DecideDialog = lazilyDialog(async () => (await import('./DecideDialog.tsx')).DecideDialog)

/** Buttons that approve, deny or grant one device. `tags` are the tags of its host. */
export const DecideButtons = ({ device, tags }: { device: Peripheral; tags: readonly string[] }) => {
  useIdlePreload(DecideDialog)
  const { session } = useServices()
  const [question, setQuestion] = useState<DecideQuestion | null>(null)
  // Hubs are always allowed, so there is nothing to decide.
  if (!session.may('fleet:write') || device.rule === 'hub') return null
  const ask = (effect: DecideStart['effect']) =>
    setQuestion({
      subject: {
        name: device.caption || device.guiPid || `${device.vid}:${device.pid}`,
        vid: device.vid,
        pid: device.pid,
        devices: [device],
        tags,
        isAttackTool: device.isKnownAttackTool,
        evidence: device.evidence,
      },
      start: { effect, scope: 'host' },
    })
  return (
    <Row as="span" align="start" wrap gap={6}>
      {device.decision === 'allow' ? null : (
        <Button size="compact-xs" variant="default" onClick={() => ask('allow')}>
          {strings.askApprove}
        </Button>
      )}
      <Button size="compact-xs" variant="default" onClick={() => ask('deny')}>
        {strings.askDeny}
      </Button>
      {device.decision === 'allow' ? null : (
        <Button size="compact-xs" variant="default" onClick={() => ask('grant')}>
          {strings.askGrant}
        </Button>
      )}
      <DecideDialog question={question} close={() => setQuestion(null)} />
    </Row>
  )
}
