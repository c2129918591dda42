import { Button } from '@mantine/core'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { Panel, Quiet, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useEffect, useRef } from 'react'
import { strings } from './strings.ts'

/** A new secret, shown once above the bar that is always visible, until the user confirms that it is saved. */
export const FreshSecret = ({ secret, done }: { secret: string; done: () => void }) => {
  const panel = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new secret takes the focus
  useEffect(() => panel.current?.focus(), [secret])
  return (
    <Panel ref={panel} tabIndex={-1} tone="accent" gap={6} style={{ flex: '1 0 100%' }} aria-label={strings.newSecret}>
      <strong>{strings.secretTitle}</strong>
      <Quiet small>{strings.secretHelp}</Quiet>
      <CopyField value={secret} what={strings.secret} />
      <Row wrap gap={16}>
        <Button size="compact-sm" variant="default" onClick={done}>
          {strings.secretSaved}
        </Button>
      </Row>
    </Panel>
  )
}
