import { Columns } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Link } from '@tanstack/react-router'
import type { agentsClassificationSummary, ResponseOf } from '#features/contract.ts'
import { NumberTile } from './NumberTile.tsx'
import { strings } from './strings.ts'
import type { Numbers, Snapshot } from './visit.ts'

type Summary = ResponseOf<typeof agentsClassificationSummary>

export interface TilesProps {
  data: Summary | undefined
  numbers: Numbers | null
  /** The last visit; null if there was none. */
  before: Snapshot | null
}

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

/** Shows five numbers of the fleet, each with its change since the last visit. */
export const Tiles = ({ data, numbers, before }: TilesProps) => {
  const change = (name: keyof Numbers) =>
    before === null || numbers === null ? null : { by: numbers[name] - before.numbers[name], since: before.at }
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
        change={change('armed')}
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
        change={change('violating')}
        search={{ HasUnapprovedPeripherals: 'true' }}
      />
    </Columns>
  )
}
