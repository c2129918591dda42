import { Modal } from '@mantine/core'
import { useBlocker } from '@tanstack/react-router'
import { useEffect } from 'react'
import { typing } from '../code.ts'
import { Stack } from '../layout/layout.tsx'
import { DialogActions } from './DialogActions.tsx'
import { strings } from './strings.ts'
import { submits } from './submits.ts'

export interface LeaveGuardProps {
  isDirty: boolean
  /** The data that would be lost; default: form input. */
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
  useEffect(() => (isDirty ? typing.hold() : undefined), [isDirty])
  const isAsked = blocker.status === 'blocked'
  return (
    <Modal opened={isAsked} onClose={() => blocker.reset?.()} title={title}>
      <Stack as="form" gap={14} onSubmit={submits(() => blocker.reset?.())}>
        <p>{words}</p>
        <DialogActions
          close={() => blocker.proceed?.()}
          closeLabel={strings.leave}
          action={strings.stay}
          startsAt="action"
        />
      </Stack>
    </Modal>
  )
}
