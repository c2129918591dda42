import { getConfigItemsByPrefix, listNotificationGroups } from '@portcullis/contract'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useQuery } from '@tanstack/react-query'

export const groupsKey = ['notification-groups']

export const useGroups = () => {
  const { api } = useServices()
  return useQuery({ queryKey: groupsKey, queryFn: ({ signal }) => api.call(listNotificationGroups, { signal }) })
}

/** Returns whether a mail server is set up; null if unknown or not visible to the user. */
export const useHasMail = (): boolean | null => {
  const { api, session } = useServices()
  const items = useQuery({
    // The key of the settings, so that a change there is shown here at once.
    queryKey: ['config', 'SMTP_'],
    queryFn: ({ signal }) => api.call(getConfigItemsByPrefix, { params: { prefixes: 'SMTP_' }, signal }),
    enabled: session.may('config:read'),
  }).data
  return items === undefined ? null : (items.SMTP_HOST ?? '') !== ''
}
