import { FullPage } from '@portcullis/platform/console/ui/FullPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { PeripheralDetail, useDevicesOf } from './PeripheralDetail.tsx'
import { strings } from './strings.ts'

/** The full page of a device. */
export const PeripheralPage = () => {
  const { uuid } = useParams({ from: '/inside/peripherals/$uuid' })
  const { device } = useSearch({ from: '/inside/peripherals/$uuid' })
  const name = useDevicesOf(uuid).data?.data.find(({ deviceID }) => deviceID === device)?.caption
  useTitle(name ?? strings.device)
  return (
    <FullPage title={strings.device} back={<Link to="/peripherals">{strings.devices}</Link>}>
      <PeripheralDetail uuid={uuid} deviceId={device ?? ''} />
    </FullPage>
  )
}
