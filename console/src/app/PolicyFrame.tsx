import { Outlet } from '@tanstack/react-router'
import { ViewTabs } from '../ui/ViewTabs.tsx'
import classes from './PolicyFrame.module.css'
import { strings } from './strings.ts'

const views = [
  { to: '/policy', title: strings.rules },
  { to: '/policy/grants', title: strings.grants },
  { to: '/policy/simulator', title: strings.simulator },
  { to: '/policy/history', title: strings.history },
  { to: '/policy/requests', title: strings.changeRequests },
  { to: '/policy/settings', title: strings.settings },
] as const

/** The policy: tabs above, the open page below. */
export const PolicyFrame = () => (
  <div className={classes.frame}>
    <ViewTabs label={strings.policy} views={views} />
    <Outlet />
  </div>
)
