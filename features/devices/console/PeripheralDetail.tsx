import { Button } from '@mantine/core'
import { modelAddress, modelHostsAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { DrawerBody, Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { skipToken, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { getAgentPeripherals, getAgents, getPeripherals, type Peripheral } from '#features/contract.ts'
import { DecideButtons } from '#features/policy/console/shared/DecideButtons.tsx'
import { TagEditor } from '#features/tags/console/shared/TagEditor.tsx'
import { Passport } from './passport/Passport.tsx'
import { DeviceFindings, DeviceIds, DeviceName } from './shared/Device.tsx'
import { DeviceFacts } from './shared/DeviceFacts.tsx'
import { Why } from './shared/Why.tsx'
import { strings } from './strings.ts'

// An inventory has at most 1,024 devices; detached devices are extra.
const devicesOfHost = 5_000

const inputOf = (uuid: string) => ({ params: { uuid }, query: { PageSize: devicesOfHost } })

export const useDevicesOf = (uuid: string) => useRead(['agent-peripherals', uuid], getAgentPeripherals, inputOf(uuid))

/** Reads the device, its host, and the number of devices of its model. */
const usePeripheral = (uuid: string, deviceId: string) => {
  const { api } = useServices()
  const devices = useDevicesOf(uuid)
  useLive('peripherals', ({ changed }) => {
    if (changed === null || changed.includes(uuid)) void devices.refetch()
  })
  const device = devices.data?.data.find((one) => one.deviceID === deviceId)
  const sameModel = useQuery({
    queryKey: ['same-model', device?.vid, device?.pid],
    queryFn:
      device === undefined
        ? skipToken
        : ({ signal }) =>
            api.call(getPeripherals, { query: { vid: device.vid, pid: device.pid, PageSize: 1 }, signal }),
  })
  const host = useQuery({
    queryKey: ['agent-row', uuid],
    queryFn: async ({ signal }) =>
      (await api.call(getAgents, { query: { Uuid: uuid, PageSize: 1 }, signal })).data[0] ?? null,
  })
  useLive('agents', ({ changed }) => {
    if (changed === null || changed.includes(uuid)) void host.refetch()
  })
  return { devices, device, host, sameModel }
}

const Head = ({ uuid, device, onChanged }: { uuid: string; device: Peripheral; onChanged: () => void }) => {
  const { session } = useServices()
  const tags = device.hashtags.split(',').filter((name) => name !== '')
  return (
    <Stack as="header" gap={6} pad="14px 80px 10px 16px" style={{ borderBottom: '1px solid var(--pc-line)' }}>
      <h2>
        <DeviceName device={device} />
      </h2>
      <Row wrap gap={10} small>
        <DeviceIds device={device} />
        <DeviceFindings device={device} />
        <Quiet>
          {strings.onHost({
            host: (
              <Link to="/agents/$agentId" params={{ agentId: uuid }}>
                <DeviceText value={device.hostIdentifier} />
              </Link>
            ),
          })}
        </Quiet>
      </Row>
      <Row wrap gap={10} small>
        <TagList tags={device.hashtags} />
        {session.may('fleet:write') ? (
          <TagEditor
            entityType="Peripheral"
            elementIds={[`${uuid}|${device.deviceID}`]}
            current={tags}
            onChanged={onChanged}
          >
            {(open) => (
              <Button size="compact-xs" variant="subtle" leftSection={<Icon name="tag" size={12} />} onClick={open}>
                {tags.length === 0 ? strings.addTags : strings.editTags}
              </Button>
            )}
          </TagEditor>
        ) : null}
        <MoreMenu curl={() => curlOf(getAgentPeripherals, inputOf(uuid))} />
      </Row>
    </Stack>
  )
}

/** Links to devices and hosts with the same model, and to new rules. */
const SameModel = ({ uuid, device, count }: { uuid: string; device: Peripheral; count: number }) => {
  const { session } = useServices()
  return (
    <p>
      <PlainLink href={modelAddress(device)}>{strings.pageOfModel}</PlainLink>
      {' · '}
      <Link to="/peripherals" search={{ vid: device.vid, pid: device.pid }}>
        {strings.sameModel({ count })}
      </Link>
      {' · '}
      <PlainLink href={modelHostsAddress(device)}>{strings.hostsWithThisModel}</PlainLink>
      {session.may('fleet:write') ? (
        <>
          {' · '}
          <Link to="/policy" search={{ open: 'new', device: `${device.vid}:${device.pid}`, print: device.fingerprint }}>
            {strings.addFingerprintRule}
          </Link>
          {' · '}
          <Link to="/policy" search={{ open: 'new', device: `${device.vid}:${device.pid}` }}>
            {strings.addModelRule}
          </Link>
          {' · '}
          <Link to="/policy/tests" search={{ open: 'new', onHost: uuid, deviceOf: device.deviceID }}>
            {strings.addTest}
          </Link>
        </>
      ) : null}
    </p>
  )
}

/** One device with its decision, its findings and the other devices of its model. */
export const PeripheralDetail = ({ uuid, deviceId }: { uuid: string; deviceId: string }) => {
  const { devices, device, host, sameModel } = usePeripheral(uuid, deviceId)
  if (devices.data === undefined) {
    return devices.error === null ? <DetailSkeleton /> : <ErrorState query={devices} />
  }
  if (device === undefined) {
    return (
      <EmptyState icon="peripherals" title={strings.notFound}>
        <p>{strings.notFoundHint}</p>
      </EmptyState>
    )
  }
  const hostTags = (host.data?.hashtags ?? '').split(',').filter((name) => name !== '')
  return (
    <Stack gap={0} style={{ height: '100%' }}>
      <Head uuid={uuid} device={device} onChanged={() => void devices.refetch()} />
      <DrawerBody gap={20}>
        <Why device={device} />
        <DecideButtons device={device} tags={hostTags} />
        <Passport uuid={uuid} deviceId={deviceId} />
        <DeviceFacts device={device} />
        {sameModel.data === undefined ? null : (
          <SameModel uuid={uuid} device={device} count={sameModel.data.recordsFiltered} />
        )}
      </DrawerBody>
    </Stack>
  )
}
