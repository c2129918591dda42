import { Modal } from '@mantine/core'
import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { lazily } from '@portcullis/platform/console/ui/lazily.tsx'
import { useSyncExternalStore } from 'react'
import { strings } from './strings.ts'

const IdentityForm = lazily(async () => (await import('./IdentityForm.tsx')).IdentityForm)

/**
 * The dialog "Confirm it’s you", above everything else. Input below it is kept, and the call that asked continues once
 * the identity is confirmed.
 */
export const ConfirmIdentity = () => {
  const { identity } = useServices()
  const state = useSession()
  const isAsked = useSyncExternalStore(identity.watch, identity.isAsked)
  const isOpen = isAsked && state.phase === 'in'
  return (
    <Modal
      opened={isOpen}
      onClose={() => identity.settle(false)}
      // `app/main.tsx` handles Escape.
      closeOnEscape={false}
      closeOnClickOutside={false}
      title={strings.confirmItsYou}
      zIndex={1000}
    >
      {isOpen ? <IdentityForm account={state.profile.account} settle={identity.settle} /> : null}
    </Modal>
  )
}
