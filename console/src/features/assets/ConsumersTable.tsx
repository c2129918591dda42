import { Button } from '@mantine/core'
import { type AssetConsumer, forgetAssetConsumer } from '@portcullis/contract'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { Icon } from '../../ui/icons.tsx'
import { SmallTable } from '../../ui/SmallTable.tsx'
import { Time } from '../../ui/Time.tsx'
import { tell } from '../../ui/tell.ts'
import classes from './assets.module.css'
import { lagText } from './messages.ts'

const kindWords = { http: 'Reader', nats: 'Sink', kafka: 'Sink' } as const

const stateOf = ({ isConnected, error, kind }: AssetConsumer) => {
  if (error !== '')
    return (
      <span className={classes.bad}>
        <Icon name="warn" size={14} /> Away: <DeviceText value={error} />
      </span>
    )
  return isConnected ? (kind === 'http' ? 'Reads now' : 'Connected') : 'Not there'
}

export interface ConsumersTableProps {
  consumers: readonly AssetConsumer[] | undefined
  reread: () => void
}

/** Who follows the stream: how far, and whether it is there. */
export const ConsumersTable = ({ consumers, reread }: ConsumersTableProps) => {
  const { api, session } = useServices()
  const forget = ({ kind, name, position }: AssetConsumer) =>
    confirm({
      title: 'Forget the consumer',
      names: [name],
      kind: ['consumer', 'consumers'],
      consequence: `its position (${position.toLocaleString('en')}) is shown no more. Nothing is lost: when it reads again, it says itself where it was.`,
      action: 'Forget',
      run: async () => {
        await api.call(forgetAssetConsumer, { params: { kind, name } })
        tell(`${name} is forgotten.`)
        reread()
      },
    })
  return (
    <SmallTable
      label="Consumers"
      head={['Who', 'Kind', 'State', { title: 'Position', align: 'right' }, 'Behind', 'Last there', '']}
      rows={consumers?.map((consumer) => ({
        key: `${consumer.kind} ${consumer.name}`,
        quiet: !consumer.isConnected && consumer.error === '',
        cells: [
          <DeviceText key="name" value={consumer.name} />,
          kindWords[consumer.kind],
          <span key="state">{stateOf(consumer)}</span>,
          consumer.position.toLocaleString('en'),
          lagText(consumer.lag),
          <Time key="seen" value={consumer.lastSeen} />,
          session.may('fleet:write') && consumer.kind === 'http' && !consumer.isConnected ? (
            <Button key="forget" size="compact-xs" variant="default" onClick={() => forget(consumer)}>
              Forget…
            </Button>
          ) : null,
        ],
      }))}
      empty="Nobody follows the stream yet. How to begin is below."
    />
  )
}
