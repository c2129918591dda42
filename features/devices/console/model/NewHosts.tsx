import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Note, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { TimeAxis } from '@portcullis/platform/console/ui/TimeAxis.tsx'
import { Link } from '@tanstack/react-router'
import { modelPassportLimits } from '#features/contract.ts'
import { strings } from '../strings.ts'
import type { ModelProps } from './ModelTables.tsx'
import { weeksOf } from './weeks.ts'

/** New hosts of a model by week, oldest first. Each bar links to its devices. */
export const NewHosts = ({ passport: { days, earlierHosts, model } }: ModelProps) => {
  const weeks = weeksOf(days, useServices().clock.now(), modelPassportLimits.days)
  const most = Math.max(...weeks.map(({ hosts }) => hosts))
  return (
    <Stack as="section" gap={6}>
      <h3>{strings.newHosts}</h3>
      <Note>
        {strings.newHostsHint({
          count: days.reduce((sum, one) => sum + one.hosts, 0),
          days: modelPassportLimits.days,
          earlier: earlierHosts,
        })}
      </Note>
      {most === 0 ? null : (
        <div>
          <Row
            as="ul"
            gap={2}
            align="flex-end"
            style={{ height: 72, margin: 0, padding: 0, listStyle: 'none', borderBottom: '1px solid var(--pc-line)' }}
          >
            {weeks.map(({ first, last, hosts }) => {
              const text = strings.weekHosts({ count: hosts, from: first, to: last })
              return (
                <li key={first} style={{ flex: 1, height: '100%' }}>
                  {hosts === 0 ? null : (
                    <Link
                      to="/peripherals"
                      search={{ vid: model.vid, pid: model.pid, firstSeen: `${first}..${last}` }}
                      aria-label={text}
                      title={text}
                      style={{ display: 'flex', alignItems: 'flex-end', height: '100%' }}
                    >
                      <span
                        style={{
                          flex: 1,
                          height: `${(hosts / most) * 100}%`,
                          minHeight: 3,
                          background: 'var(--pc-accent)',
                        }}
                      />
                    </Link>
                  )}
                </li>
              )
            })}
          </Row>
          <TimeAxis from={Date.parse(weeks[0]!.first)} to={Date.parse(weeks.at(-1)!.last)} />
        </div>
      )}
    </Stack>
  )
}
