import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Link } from '@tanstack/react-router'
import { subsystemHealth } from '#features/contract.ts'
import { healthWords } from '#features/health/console/shared/health-labels.ts'
import { strings } from './strings.ts'

/** Shows the health of the server in one line that links to the details. */
export const HealthLine = () => {
  const { session } = useServices()
  const parts = useRead(['health', 'parts'], subsystemHealth, {
    refetchInterval: 30_000,
    enabled: session.may('health:read'),
  })
  if (parts.data === undefined) return null
  const failing = parts.data.filter(({ status }) => status === 'Error')
  const warning = parts.data.filter(({ status }) => status === 'Warning')
  const bad = [...failing, ...warning]
  return (
    <Link to="/settings/health">
      <Row as="span" gap={6} quiet small>
        {bad.length === 0 ? (
          strings.allOperational
        ) : (
          <>
            <SeverityShape severity={failing.length > 0 ? 'red' : 'amber'} />
            {strings.problem({
              parts: bad.map(({ name }) => name).join(', '),
              status: healthWords[failing.length > 0 ? 'Error' : 'Warning'],
            })}
          </>
        )}
      </Row>
    </Link>
  )
}
