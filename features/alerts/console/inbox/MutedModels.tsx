import { Button, Popover } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Columns, Quiet, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { alertCatalogue, endAlertMute, listAlertMutes } from '#features/contract.ts'
import { alertsKey } from '../shared/useAlerts.ts'
import { strings } from './strings.ts'

/** Lists the models whose alerts are muted. Nothing is shown while there are none. */
export const MutedModels = () => {
  const { api, session, queries } = useServices()
  const { data = [] } = useRead([alertsKey, 'mutes'], listAlertMutes)
  if (data.length === 0) return null
  const end = (id: number): void =>
    void api.call(endAlertMute, { params: { id } }).then(() => {
      tell(strings.muteEnded)
      return queries.invalidateQueries({ queryKey: [alertsKey] })
    }, tellFailure)
  return (
    <Popover position="bottom-end" width={420} trapFocus returnFocus>
      <Popover.Target>
        <Button size="compact-sm" variant="default">
          {strings.mutedCount({ count: data.length })}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={strings.mutedModels}>
        <Stack as="ul" gap={10} small style={{ maxHeight: 360, overflowY: 'auto' }}>
          {data.map((mute) => (
            <Columns as="li" key={mute.id} template="minmax(0, 1fr) auto" breaks>
              <span>
                <DeviceText value={mute.name === '' ? mute.model : mute.name} /> <code>{mute.model}</code>
                <Quiet block>
                  {strings.muteLine({
                    kind: alertCatalogue[mute.kind].title,
                    by: <DeviceText value={mute.createdBy} />,
                    until: <Time value={mute.until} form="local" />,
                    count: mute.suppressed,
                  })}
                </Quiet>
                <Quiet block>
                  <DeviceText value={mute.reason} />
                </Quiet>
              </span>
              {session.may('notices:dismiss') ? (
                <Button size="compact-xs" variant="default" onClick={() => end(mute.id)}>
                  {strings.endMute}
                </Button>
              ) : null}
            </Columns>
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}
