import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { getCommandKeys } from '#features/contract.ts'
import { strings } from './strings.ts'

const neverRotated = '1970-01-01T00:00:00.000Z'

/** The keys that sign commands, and the numbers of hosts that have not followed a rotation. */
export const CommandKeys = () => {
  const { data, error, refetch } = useRead(['command-keys'], getCommandKeys)
  return (
    <>
      <h2>{strings.commandKey}</h2>
      <p>{strings.commandKeyText({ code: (text) => <code>{text}</code> })}</p>
      <ErrorState failure={error} retry={() => void refetch()} inline />
      {data === undefined || data.hostsWithUnknownKey === 0 ? null : (
        <p role="note">
          <SeverityTag severity="amber" word={strings.warning} />{' '}
          {strings.unknownKeys({ count: data.hostsWithUnknownKey })}
        </p>
      )}
      <SmallTable
        label={strings.commandKeys}
        head={[
          right(strings.key),
          'SHA-256',
          strings.state,
          strings.created,
          strings.retires,
          right(strings.hosts),
          right(strings.notFollowed),
        ]}
        rows={data?.keys.toReversed().map((key) => ({
          key: String(key.number),
          quiet: key.state === 'Retired',
          cells: [
            key.number.toLocaleString('en'),
            <code key="fingerprint">{key.fingerprint}</code>,
            key.state,
            key.createdAt === neverRotated ? strings.atFirstStart : <Time key="made" value={key.createdAt} />,
            key.retiresAt === null ? '' : <Time key="retires" value={key.retiresAt} form="until" />,
            key.hosts.toLocaleString('en'),
            key.state === 'In force' ? '' : key.hostsThatDoNotFollow.toLocaleString('en'),
          ],
        }))}
        empty={strings.noCommandKeys}
      />
    </>
  )
}
