import { notifications } from '@mantine/notifications'
import { createElement } from 'react'
import { isStoredRequest, messageOf } from '../lib/problem.ts'
import type { Confirmation } from './ConfirmDialog.tsx'
import { confirm } from './confirm.ts'
import { strings } from './strings.ts'
import { Undo } from './Undo.tsx'

/** Tells that something was done. */
export const tell = (message: string): void => {
  notifications.show({ message, autoClose: 4_000, withBorder: true })
}

/** Tells a failure with its cure, until the reader closes it. */
export const tellFailure = (failure: unknown): void => {
  const { title, detail, cure } = messageOf(failure)
  if (isStoredRequest(failure)) {
    const link = createElement('a', { href: '/policy/requests' }, strings.openTheRequest)
    notifications.show({
      title: strings.waitingForASecondApprover,
      message: createElement('span', null, `${detail} Nothing has changed yet. `, link),
      autoClose: 12_000,
      withBorder: true,
    })
    return
  }
  notifications.show({ title, message: `${detail} ${cure}`, color: 'red', autoClose: 12_000, withBorder: true })
}

/**
 * Tells that something was done and offers to take it back for ten seconds; `undo` may say in words what it did. `question`
 * says what to confirm before it: an undo that allows devices asks first, all others resolve to null.
 */
export const tellWithUndo = (
  message: string,
  undo: (reason: string) => Promise<unknown>,
  question: () => Promise<Omit<Confirmation, 'run'> | null> = async () => null,
): void => {
  const run = async (reason: string): Promise<void> => {
    const said = await undo(reason)
    tell(typeof said === 'string' ? said : strings.takenBack)
  }
  const start = async (): Promise<void> => {
    const asked = await question()
    if (asked === null) await run('')
    else confirm({ ...asked, run })
  }
  const id = notifications.show({
    message: createElement(Undo, {
      message,
      undo: () => {
        notifications.hide(id)
        start().catch(tellFailure)
      },
    }),
    autoClose: 10_000,
    withBorder: true,
  })
}
