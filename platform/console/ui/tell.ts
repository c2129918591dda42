import { notifications } from '@mantine/notifications'
import { createElement } from 'react'
import { isStoredRequest, messageOf } from '../lib/problem.ts'
import { type Confirmation, confirm } from './confirm.ts'
import { strings } from './strings.ts'
import { Undo } from './Undo.tsx'

/** Shows a message that something was done. */
export const tell = (message: string): void => {
  notifications.show({ message, autoClose: 4_000, withBorder: true })
}

/** Shows a failure with its remedy. */
export const tellFailure = (failure: unknown): void => {
  const { title, detail, cure } = messageOf(failure)
  if (isStoredRequest(failure)) {
    const link = createElement('a', { href: '/policy/requests' }, strings.openRequest)
    notifications.show({
      title: strings.waitingForApprover,
      message: createElement('span', null, `${strings.storedDetail({ detail })} `, link),
      autoClose: 12_000,
      withBorder: true,
    })
    return
  }
  notifications.show({ title, message: `${detail} ${cure}`, color: 'red', autoClose: 12_000, withBorder: true })
}

/**
 * Shows that something was done and offers undo for ten seconds. `undo` can return a message. `question` returns what to
 * confirm before an undo that allows devices; null if there is nothing to confirm.
 */
export const tellWithUndo = (
  message: string,
  undo: (reason: string) => Promise<unknown>,
  question: () => Promise<Omit<Confirmation, 'run'> | null> = async () => null,
): void => {
  const run = async (reason: string): Promise<void> => {
    const said = await undo(reason)
    tell(typeof said === 'string' ? said : strings.undone)
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
