import { durationText } from '@portcullis/platform/console/lib/time.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { alertsKey } from '#features/alerts/console/shared/useAlerts.ts'
import { alertTimes } from '#features/contract.ts'
import { strings } from './strings.ts'

const textOf = (seconds: number | null): string => (seconds === null ? '–' : durationText(seconds))

/** How fast people acknowledge and close alerts. Shown as soon as somebody handled one. */
export const ResponseTimes = () => {
  const { data } = useRead([alertsKey, 'times'], alertTimes)
  if (data === undefined || data.days30.acknowledged === 0) return null
  const { days7, days30 } = data
  const both = (of: 'medianToAcknowledge' | 'medianToClose') =>
    strings.medianTimes({ week: textOf(days7[of]), month: textOf(days30[of]) })
  return (
    <Facts
      rows={[
        [strings.toAcknowledge, both('medianToAcknowledge')],
        [strings.toClose, both('medianToClose')],
      ]}
    />
  )
}
