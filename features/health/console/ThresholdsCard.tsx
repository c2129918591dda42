import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Panel, Quiet, Row } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Link } from '@tanstack/react-router'
import { type ConfigItem, configGroups, getConfigItemsByPrefix } from '#features/contract.ts'
import { thresholdText } from './health.ts'
import { strings } from './strings.ts'

const prefix = 'VENDORA_HEALTH_'
const sections = [
  ...Map.groupBy(Object.entries<ConfigItem>(configGroups.health.items), ([, { section = '' }]) => section),
]

/** The thresholds of all parts, with a link to change them. */
export const ThresholdsCard = () => {
  const { session } = useServices()
  const items = useRead(['config', prefix], getConfigItemsByPrefix, { params: { prefixes: prefix } })
  return (
    <Panel aria-label={strings.thresholds}>
      <Row align="baseline" justify="space-between">
        <h2>{strings.thresholds}</h2>
        {session.may('config:write') ? (
          <Link to="/settings/$page" params={{ page: 'thresholds' }}>
            {strings.edit}
          </Link>
        ) : null}
      </Row>
      {items.data === undefined ? (
        items.error === null ? null : (
          <ErrorState query={items} inline />
        )
      ) : (
        sections.map(([section, thresholds]) => (
          <div key={section}>
            <h3>{section}</h3>
            <Facts
              rows={thresholds.map(([name, item]) => {
                const value = items.data[name] ?? item.default
                return [
                  item.label,
                  <span key={name} title={item.description}>
                    {thresholdText(item, value)}
                    {value === item.default ? null : (
                      <Quiet> {strings.defaultValue({ value: thresholdText(item, item.default) })}</Quiet>
                    )}
                  </span>,
                ] as const
              })}
            />
          </div>
        ))
      )}
    </Panel>
  )
}
