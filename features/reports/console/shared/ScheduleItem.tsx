import { Menu } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { strings } from '@portcullis/platform/console/ui/strings.ts'
import { useNavigate } from '@tanstack/react-router'
import { type ScheduleStart, scheduleSearch } from './schedule-address.ts'

/** Opens the report editor with the current list. Shown only to accounts that may save reports. */
export const ScheduleItem = (start: ScheduleStart) => {
  const { session } = useServices()
  const navigate = useNavigate()
  if (!session.may('config:write')) return null
  return (
    <Menu.Item
      leftSection={<Icon name="report" />}
      onClick={() => void navigate({ to: '/reports/$id', params: { id: 'new' }, search: scheduleSearch(start) })}
    >
      {strings.scheduleReport}
    </Menu.Item>
  )
}
