import { Modal } from '@mantine/core'
import { lazy, Suspense, useEffect, useSyncExternalStore } from 'react'
import { useServices, useSession } from '../../lib/services.tsx'

const IdentityForm = lazy(async () => ({ default: (await import('./IdentityForm.tsx')).IdentityForm }))

/**
 * The question "Confirm it’s you", above whatever is open: what was typed there stays, and the call that asked goes on
 * once the identity is confirmed.
 */
export const ConfirmIdentity = () => {
  const { identity } = useServices()
  const state = useSession()
  const isAsked = useSyncExternalStore(identity.watch, identity.isAsked)
  const isOpen = isAsked && state.phase === 'in'
  useEffect(() => {
    if (!isOpen) return
    // Before the dialog below sees it, which Escape would close with what was typed into it.
    const cancel = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing) return
      event.stopImmediatePropagation()
      event.preventDefault()
      identity.settle(false)
    }
    window.addEventListener('keydown', cancel, true)
    return () => window.removeEventListener('keydown', cancel, true)
  }, [isOpen, identity])
  return (
    <Modal
      opened={isOpen}
      onClose={() => identity.settle(false)}
      closeOnEscape={false}
      closeOnClickOutside={false}
      title="Confirm it’s you"
      zIndex={1000}
    >
      {isOpen ? (
        <Suspense>
          <IdentityForm account={state.profile.account} settle={identity.settle} />
        </Suspense>
      ) : null}
    </Modal>
  )
}
