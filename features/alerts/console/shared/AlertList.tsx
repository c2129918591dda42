import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { Link } from '@tanstack/react-router'
import classes from './AlertList.module.css'
import type { Listed } from './foremost.ts'
import { timesText } from './line.ts'

/** A short list of alerts. Each line opens its alert. */
export const AlertList = ({ alerts, opened }: { alerts: readonly Listed[]; opened?: () => void }) => (
  <Stack as="ul" gap={0} pad="4px 0">
    {alerts.map(({ list, line }) => (
      <li key={`${list} ${line.id}`}>
        <Link
          to="/alerts"
          search={list === 'risk' ? { open: String(line.id) } : { tab: list, open: String(line.id) }}
          className={classes.line}
          data-unread={!line.isRead || undefined}
          onClick={opened}
        >
          <Row as="span" quiet>
            <SeverityTag severity={line.severity} word={line.severityLabel} />
            <strong>{timesText(line.count)}</strong>
            {line.owner === '' ? null : <DeviceText value={line.owner} />}
            <Text end>
              <Time value={line.lastAt} />
            </Text>
          </Row>
          <span className={classes.title}>
            <DeviceText value={line.title} />
          </span>
        </Link>
      </li>
    ))}
  </Stack>
)
