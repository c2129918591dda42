import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { getConfigItemsByPrefix, listNotificationGroups } from '#features/contract.ts'

export const groupsKey = ['notification-groups']

export const useGroups = () => {
  return useRead(groupsKey, listNotificationGroups)
}

/** Returns whether a mail server is set up; null if unknown or not visible to the user. */
export const useHasMail = (): boolean | null => {
  const { session } = useServices()
  const items = useRead(['config', 'SMTP_'], getConfigItemsByPrefix, {
    // The key of the settings, so that a change there is shown here at once.
    params: { prefixes: 'SMTP_' },
    enabled: session.may('config:read'),
  }).data
  return items === undefined ? null : (items.SMTP_HOST ?? '') !== ''
}
