import { Popover } from '@mantine/core'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { lazily } from '@portcullis/platform/console/ui/lazily.tsx'
import { Suspense, useState } from 'react'
import { useAlertCounts } from '../shared/useAlerts.ts'
import classes from './Bell.module.css'
import { strings } from './bell-strings.ts'

const BellPanel = lazily(async () => (await import('./BellPanel.tsx')).BellPanel)

/** The bell in the frame: shows the number of unread alerts and opens the newest ones. */
export const Bell = () => {
  const [isOpen, setIsOpen] = useState(false)
  const unread = useAlertCounts().data?.unread ?? 0
  const label = unread === 0 ? strings.bellNoneUnread : strings.bellUnread({ unread })
  return (
    <Popover opened={isOpen} onChange={setIsOpen} position="bottom-end" width={380} trapFocus returnFocus>
      <Popover.Target>
        <button
          type="button"
          className={classes.bell}
          aria-label={label}
          aria-expanded={isOpen}
          title={label}
          onClick={() => setIsOpen(!isOpen)}
        >
          <Icon name="bell" size={18} />
          {unread === 0 ? null : <span className={classes.count}>{unread > 999 ? '999+' : unread}</span>}
        </button>
      </Popover.Target>
      <Popover.Dropdown p={0}>
        <Suspense>
          <BellPanel close={() => setIsOpen(false)} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  )
}
