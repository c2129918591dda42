import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Columns } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { Link } from '@tanstack/react-router'
import { type agentsClassificationSummary, listFindings, type ResponseOf } from '#features/contract.ts'
import { NumberTile } from './NumberTile.tsx'
import { strings } from './strings.ts'
import { numbersOf, useYesterday } from './useYesterday.ts'

type Summary = ResponseOf<typeof agentsClassificationSummary>

/** The hosts that block nothing: those that could, and those that cannot. */
const Unprotected = ({ possible, impossible }: Summary['protection']) => (
  <>
    <Link to="/agents" search={{ Status: 'Free', CanBlock: 'true' }}>
      {strings.couldBe({ count: possible })}
    </Link>
    {' · '}
    <Link to="/agents" search={{ CanBlock: 'false' }}>
      {strings.cannotBe({ count: impossible })}
    </Link>
  </>
)

const OpenFindings = ({ yesterday }: { yesterday: ReturnType<typeof useYesterday> }) => {
  const open = useRead(['overview', 'findings'], listFindings, { query: { state: 'Open', PageSize: 1 } })
  useLiveRefresh(['peripherals'], 3_000, () => void open.refetch())
  const count = open.data?.recordsFiltered
  const before = yesterday?.openFindings
  return (
    <NumberTile
      title={strings.openFindings}
      value={count}
      severity="amber"
      change={
        count === undefined || yesterday === undefined || before == null
          ? null
          : { by: count - before, since: yesterday.recordedAt }
      }
      to="/findings"
      search={{ state: 'Open' }}
    />
  )
}

/** Shows six numbers of the fleet, each with its change since yesterday. */
export const Tiles = ({ data }: { data: Summary | undefined }) => {
  const yesterday = useYesterday()
  const numbers = data && numbersOf(data)
  const change = (name: keyof NonNullable<typeof numbers>) =>
    yesterday === undefined || numbers === undefined
      ? null
      : { by: numbers[name] - yesterday[name], since: yesterday.recordedAt }
  return (
    <Columns as="section" template="repeat(auto-fit, minmax(150px, 1fr))" aria-label={strings.fleet}>
      <NumberTile
        title={strings.connected}
        value={data?.connected}
        of={data?.total}
        change={change('connected')}
        search={{ Status: 'Connected' }}
      />
      <NumberTile
        title={strings.protected}
        value={data?.protection.protected}
        of={data?.total}
        change={change('protected')}
        search={{ Status: 'Armed', CanBlock: 'true' }}
        parts={data === undefined ? '' : <Unprotected {...data.protection} />}
      />
      <NumberTile
        title={strings.withAttackTools}
        value={data?.knownAttackTools}
        severity="red"
        change={change('attackTools')}
        search={{ HasKnownAttackTools: 'true' }}
      />
      <NumberTile
        title={strings.vulnerable}
        value={data?.vulnerable}
        severity="amber"
        change={change('vulnerable')}
        search={{ HasVulnerablePeripherals: 'true' }}
      />
      <NumberTile
        title={strings.notAllowed}
        value={data?.unapproved}
        severity="amber"
        change={change('unapproved')}
        search={{ HasUnapprovedPeripherals: 'true' }}
      />
      <OpenFindings yesterday={yesterday} />
    </Columns>
  )
}
