import { getPolicy } from '@portcullis/features/contract.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import classes from './Frame.module.css'
import { strings } from './strings.ts'

// More frequent updates of this count would not help anyone.
const refreshGap = 5_000

/** Shows the number of devices that await approval, if any. */
export const WaitingCount = () => {
  const policy = useRead(['policy'], getPolicy)
  useLiveRefresh(['peripherals', 'agents'], refreshGap, () => void policy.refetch())
  const waiting = policy.data?.waiting ?? 0
  if (waiting === 0) return null
  return (
    <span className={classes.count} title={strings.devicesWaiting({ waiting })}>
      {waiting > 999 ? '999+' : waiting}
    </span>
  )
}
