import { Menu } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { type ScheduleStart, scheduleSearch } from '../lib/schedule-address.ts'
import { useServices } from '../lib/services.tsx'
import { Icon } from './icons.tsx'
import { strings } from './strings.ts'

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
