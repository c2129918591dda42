import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { FullPage } from '@portcullis/platform/console/ui/FullPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useParams } from '@tanstack/react-router'
import { getNotice } from '#features/contract.ts'
import { alertsKey } from '../shared/useAlerts.ts'
import { AlertBody } from './AlertBody.tsx'
import { useAlertActions } from './alert-actions.ts'
import { strings } from './strings.ts'
import { useAlertDecision } from './useAlertDecision.tsx'
import { useCases } from './useCases.tsx'

const nothing = () => undefined

export const AlertPage = () => {
  const { alertId } = useParams({ from: '/inside/alerts/$alertId' })
  const { session } = useServices()
  const id = Number(alertId)
  const { data } = useRead([alertsKey, 'timeline', id], getNotice, { params: { id }, retry: false })
  const cases = useCases(nothing)
  const { pin } = useAlertActions(data?.kind === 'health' ? 'health' : 'risk')
  const { decide, dialog } = useAlertDecision()
  useTitle(data?.title ?? strings.alert)
  return (
    <FullPage title={strings.alert} back={<Link to="/alerts">{strings.alerts}</Link>}>
      <AlertBody
        key={id}
        id={id}
        line={null}
        cases={session.may('notices:dismiss') ? cases : null}
        pin={pin}
        decide={decide}
      />
      {dialog}
      {cases.dialog}
    </FullPage>
  )
}
