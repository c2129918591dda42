import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type { HealthStatus } from '#features/contract.ts'
import { healthSeverity } from './health.ts'
import { healthWords } from './shared/health-labels.ts'

/** The state of a part as shape, colour and text. */
export const Status = ({ status }: { status: HealthStatus }) => {
  const severity = healthSeverity[status]
  if (severity !== null) return <SeverityTag severity={severity} word={healthWords[status]} />
  return (
    <Row as="span" gap={6} nowrap>
      {status === 'OK' ? <Icon name="check" size={14} /> : null}
      {healthWords[status]}
    </Row>
  )
}
