import { Outlet } from '@tanstack/react-router'
import { ViewTabs } from '../ui/ViewTabs.tsx'
import classes from './PolicyFrame.module.css'

const views = [
  { to: '/policy', title: 'Rules' },
  { to: '/policy/grants', title: 'Grants' },
  { to: '/policy/simulator', title: 'Simulator' },
  { to: '/policy/history', title: 'History' },
  { to: '/policy/requests', title: 'Change requests' },
  { to: '/policy/settings', title: 'Settings' },
] as const

/** The policy: its views above, the open one below. */
export const PolicyFrame = () => (
  <div className={classes.frame}>
    <ViewTabs label="Policy" views={views} />
    <Outlet />
  </div>
)
