import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { feedHost } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Shows the age of a host's events and the data that feeds do not contain. */
export const FeedFacts = ({ uuid }: { uuid: string }) => {
  const { data } = useRead(['feed host', uuid], feedHost, { params: { uuid } })
  if (data === undefined) return null
  return (
    <Facts
      rows={[
        [strings.feeds, <DeviceText key="f" value={data.feeds.join(', ')} />],
        [strings.newestEvent, <Time key="n" value={data.lastEventAt} form="ago" />],
        [strings.oldestEvent, <Time key="o" value={data.firstEventAt} form="ago" />],
        [
          strings.confidence,
          data.confidence === 'recent' ? (
            strings.confidenceRecent
          ) : (
            <SeverityTag key="c" severity="amber" word={strings.confidenceOld} />
          ),
        ],
        [strings.notShown, data.notShown.join(', ')],
      ]}
    />
  )
}
