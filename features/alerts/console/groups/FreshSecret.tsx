import { Button, Group } from '@mantine/core'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import text from '@portcullis/platform/console/ui/text.module.css'
import { useEffect, useRef } from 'react'
import classes from './notifications.module.css'
import { strings } from './strings.ts'

/** A new secret, shown once above the bar that is always visible, until the user confirms that it is saved. */
export const FreshSecret = ({ secret, done }: { secret: string; done: () => void }) => {
  const panel = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: each new secret takes the focus
  useEffect(() => panel.current?.focus(), [secret])
  return (
    <section ref={panel} tabIndex={-1} className={classes.fresh} aria-label={strings.newSecret}>
      <strong>{strings.secretTitle}</strong>
      <span className={text.note}>{strings.secretHelp}</span>
      <CopyField value={secret} what={strings.secret} />
      <Group>
        <Button size="compact-sm" variant="default" onClick={done}>
          {strings.secretSaved}
        </Button>
      </Group>
    </section>
  )
}
