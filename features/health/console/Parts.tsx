import { SegmentedControl } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { healthHistory, type Subsystem, subsystemHealth } from '#features/contract.ts'
import { partAddress } from './health.ts'
import { PartStrip } from './PartStrip.tsx'
import { Status } from './Status.tsx'
import { strings } from './strings.ts'
import { segmentsOf } from './strip.ts'

// Probes are at most 30 s old; reading twice as often shows a change soon.
const interval = 15_000
const dayMs = 86_400_000
const ranges = [
  { value: '1', label: strings.hours24 },
  { value: '7', label: strings.days7 },
  { value: '30', label: strings.days30 },
  { value: '90', label: strings.days90 },
] as const
/** More changes than a part that changes constantly can have. */
const mostChanges = 5_000

const tookText = (ms: number | null): string =>
  ms === null ? '–' : strings.milliseconds({ value: ms < 10 ? ms.toFixed(1) : Math.round(ms) })

/** Shows text with commands between backticks. */
const Prose = ({ text }: { text: string }) =>
  text.split('`').map((piece, index) => (index % 2 === 0 ? piece : <code key={piece}>{piece}</code>))

const Seen = ({ part }: { part: Subsystem }) => {
  const to = partAddress[part.name]
  return (
    <span>
      {/* The state already says "Not configured". */}
      {part.description === 'Not configured' && part.whatToDo !== '' ? null : part.description}
      {part.whatToDo === '' ? null : (
        <Text block tiny={part.status === 'Unknown'} quiet={part.status !== 'Unknown'}>
          <Prose text={part.whatToDo} />{' '}
          {to === undefined ? null : (
            <Link style={{ textDecoration: 'underline' }} to={to}>
              {strings.open}
            </Link>
          )}
        </Text>
      )}
    </span>
  )
}

type Range = (typeof ranges)[number]

/** Reads the parts and their changes within the range. */
const useParts = (range: Range) => {
  const { api, clock } = useServices()
  const parts = useRead(['health', 'parts'], subsystemHealth, { refetchInterval: interval })
  const history = useQuery({
    queryKey: ['health', 'history', range.value],
    queryFn: async ({ signal }) => {
      const now = clock.now()
      const from = now - Number(range.value) * dayMs
      const { data } = await api.call(healthHistory, {
        query: { fromDate: new Date(from).toISOString(), PageSize: mostChanges },
        signal,
      })
      return { data, from, now }
    },
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  })
  useLiveRefresh(['health'], 1_000, () => {
    void parts.refetch()
    void history.refetch()
  })
  return { parts, history }
}

/** Address of the changes of a part. */
const changesOf = ({ name }: Subsystem): string => `/settings/health/history?subsystem=${encodeURIComponent(name)}`

interface PartsTableProps {
  range: Range
  parts: readonly Subsystem[] | undefined
  known: ReturnType<typeof useParts>['history']['data']
}

const PartsTable = ({ range, parts, known }: PartsTableProps) => (
  <SmallTable
    label={strings.parts}
    head={[
      strings.part,
      strings.stateSince,
      strings.findingAndRemedy,
      strings.lastRange({ range: range.label }),
      right(strings.lastChecked),
    ]}
    rows={parts?.map((part) => {
      const segments =
        known === undefined
          ? null
          : segmentsOf(
              known.data.filter(({ subsystem }) => subsystem === part.name),
              part,
              known.from,
              known.now,
            )
      return {
        key: part.name,
        href: changesOf(part),
        quiet: part.status === 'Unknown',
        cells: [
          <PlainLink key="name" href={changesOf(part)}>
            {part.name}
          </PlainLink>,
          <Stack key="status" as="span" gap={0} nowrap style={{ alignItems: 'inherit' }}>
            <Status status={part.status} />
            {part.since === null ? null : <Time value={part.since} />}
          </Stack>,
          <Seen key="seen" part={part} />,
          segments === null || known === undefined ? null : (
            <Link
              key="strip"
              to="/settings/health/history"
              search={{ subsystem: part.name }}
              title={strings.showChanges}
            >
              <PartStrip name={part.name} segments={segments} from={known.from} to={known.now} />
            </Link>
          ),
          <Stack key="when" as="span" gap={0} nowrap style={{ alignItems: 'inherit' }}>
            <Time value={part.lastUpdated} />
            <span title={strings.probeDuration}>{tookText(part.latencyMs)}</span>
          </Stack>,
        ],
      }
    })}
    empty={strings.noProbes}
  />
)

/** The parts of the product: state, finding, remedy and history. */
export const Parts = () => {
  const navigate = useNavigate({ from: '/settings/health' })
  const search = useSearch({ from: '/inside/settings/health' })
  const range = ranges.find(({ value }) => value === search.days) ?? ranges[1]
  const { parts, history } = useParts(range)
  return (
    <Stack as="section" gap={8} aria-label={strings.parts}>
      <ErrorState query={parts} inline />
      <ErrorState query={history} inline />
      <Row gap={16}>
        <SegmentedControl
          size="xs"
          aria-label={strings.range}
          data={[...ranges]}
          value={range.value}
          onChange={(days) =>
            void navigate({
              to: '.',
              search: { ...search, days: days === ranges[1].value ? undefined : days },
              replace: true,
            })
          }
        />
        <Link to="/settings/health/history" style={{ marginLeft: 'auto' }}>
          {strings.allChanges}
        </Link>
      </Row>
      <PartsTable range={range} parts={parts.data} known={history.data} />
      <Text as="p" quiet tiny>
        {strings.legend}
      </Text>
    </Stack>
  )
}
