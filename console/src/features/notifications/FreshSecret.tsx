import { Button, Group } from '@mantine/core'
import { useEffect, useRef } from 'react'
import { CopyField } from '../../ui/CopyField.tsx'
import text from '../../ui/text.module.css'
import classes from './notifications.module.css'

/** A secret that was made now, shown this once: over the bar that is always in sight, and until somebody has stored it. */
export const FreshSecret = ({ secret, done }: { secret: string; done: () => void }) => {
  const box = useRef<HTMLElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new secret is looked at as the first one was
  useEffect(() => box.current?.focus(), [secret])
  return (
    <section ref={box} tabIndex={-1} className={classes.fresh} aria-label="New secret">
      <strong>The webhook’s secret, shown this once</strong>
      <span className={text.note}>
        Give it to the receiver, which checks with it that messages are from this server (Standard Webhooks).
      </span>
      <CopyField value={secret} what="Secret" />
      <Group>
        <Button size="compact-sm" variant="default" onClick={done}>
          I have stored it
        </Button>
      </Group>
    </section>
  )
}
