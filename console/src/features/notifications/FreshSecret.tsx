import { Button, Group } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { CopyField } from '../../ui/CopyField.tsx'
import text from '../../ui/text.module.css'
import classes from './notifications.module.css'
import { strings } from './strings.ts'

/** A secret that was made now, shown this once: over the bar that is always in sight, and until somebody has stored it. */
export const FreshSecret = ({ secret, done }: { secret: string; done: () => void }) => {
  const box = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new secret is looked at as the first one was
  useEffect(() => box.current?.focus(), [secret])
  return (
    <section ref={box} tabIndex={-1} className={classes.fresh} aria-label={strings.newSecret}>
      <strong>{strings.theWebhooksSecretShownThisOnce}</strong>
      <span className={text.note}>{strings.giveItToTheReceiverWhich}</span>
      <CopyField value={secret} what={strings.secret} />
      <Group>
        <Button size="compact-sm" variant="default" onClick={done}>
          {strings.iHaveStoredIt}
        </Button>
      </Group>
    </section>
  )
}
