import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { type AssetConsumer, forgetAssetConsumer } from '#features/contract.ts'
import { lagText } from './messages.ts'
import { strings } from './strings.ts'

const kindLabels = { http: strings.reader, nats: strings.sink, kafka: strings.sink } as const

const stateOf = ({ isConnected, error, kind }: AssetConsumer) => {
  if (error !== '')
    return (
      <Row as="span" gap={4} breaks>
        <Icon name="warn" size={14} /> {strings.unreachable} <DeviceText value={error} />
      </Row>
    )
  return isConnected ? (kind === 'http' ? strings.reading : strings.connected) : strings.disconnected
}

export interface ConsumersTableProps {
  consumers: readonly AssetConsumer[] | undefined
  reread: () => void
}

/** The consumers of the stream: how far they are, and whether they are connected. */
export const ConsumersTable = ({ consumers, reread }: ConsumersTableProps) => {
  const { api, session } = useServices()
  const forget = ({ kind, name, position }: AssetConsumer) =>
    confirm({
      title: strings.forgetTitle,
      names: [name],
      kind: strings.consumerCount,
      consequence: strings.forgetConsequence({ position }),
      run: async () => {
        await api.call(forgetAssetConsumer, { params: { kind, name } })
        tell(strings.forgotten({ name }))
        reread()
      },
    })
  return (
    <SmallTable
      label={strings.consumers}
      head={[strings.name, strings.kind, strings.state, right(strings.position), strings.lag, strings.lastSeen, '']}
      rows={consumers?.map((consumer) => ({
        key: `${consumer.kind} ${consumer.name}`,
        quiet: !consumer.isConnected && consumer.error === '',
        cells: [
          <DeviceText key="name" value={consumer.name} />,
          kindLabels[consumer.kind],
          <span key="state">{stateOf(consumer)}</span>,
          consumer.position.toLocaleString('en'),
          lagText(consumer.lag),
          <Time key="seen" value={consumer.lastSeen} />,
          session.may('fleet:write') && consumer.kind === 'http' && !consumer.isConnected ? (
            <Button key="forget" size="compact-xs" variant="default" onClick={() => forget(consumer)}>
              {strings.askRemove}
            </Button>
          ) : null,
        ],
      }))}
      empty={strings.noConsumers}
    />
  )
}
