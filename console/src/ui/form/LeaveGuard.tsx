import { Button, Group, Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import classes from './form.module.css'
import { strings } from './strings.ts'

export interface LeaveGuardProps {
  isDirty: boolean
  /** What would be lost, if not form input. */
  title?: string
  words?: string
}

/** Asks for confirmation before the user leaves a page with unsaved changes. */
export const LeaveGuard = ({ isDirty, title = strings.leaveTitle, words = strings.unsaved }: LeaveGuardProps) => {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname !== next.pathname,
    enableBeforeUnload: () => isDirty,
    withResolver: true,
  })
  const isAsked = blocker.status === 'blocked'
  return (
    <Modal opened={isAsked} onClose={() => blocker.reset?.()} title={title}>
      <form
        className={classes.dialog}
        onSubmit={(event) => {
          event.preventDefault()
          blocker.reset?.()
        }}
      >
        <p>{words}</p>
        <Group justify="flex-end" gap="sm">
          <Button variant="default" onClick={() => blocker.proceed?.()}>
            {strings.leave}
          </Button>
          <Button type="submit" data-autofocus>
            {strings.stay}
          </Button>
        </Group>
      </form>
    </Modal>
  )
}
