import type { HealthStatus } from '@portcullis/contract'
import { healthWords } from '@portcullis/platform/console/ui/health-labels.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import classes from './HealthPage.module.css'
import { healthSeverity } from './health.ts'

/** The state of a part as shape, colour and text. */
export const Status = ({ status }: { status: HealthStatus }) => {
  const severity = healthSeverity[status]
  if (severity !== null) return <SeverityTag severity={severity} word={healthWords[status]} />
  return (
    <span className={classes.status}>
      {status === 'OK' ? <Icon name="check" size={14} /> : null}
      {healthWords[status]}
    </span>
  )
}
