import { Button, Menu } from '@mantine/core'
import { agentAddress, deviceAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { PressButton, Quiet, Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { allowedMost } from '#features/contract.ts'
import { DeviceIds } from '#features/devices/console/shared/Device.tsx'
import type { DecideStart } from '../shared/decide.ts'
import classes from './ApprovalsPage.module.css'
import { strings } from './strings.ts'
import { amount, deviceKey, type Line, modelKey, modelName, type Waiting } from './waiting.ts'

const wider: readonly [title: string, start: DecideStart][] = [
  [strings.approveForTag, { effect: 'allow', scope: 'tag' }],
  [strings.approveOnAllHosts, { effect: 'allow', scope: 'all' }],
  [strings.askGrant, { effect: 'grant', scope: 'host' }],
]

const Actions = ({ line, decide }: { line: Line; decide: (line: Line, start: DecideStart) => void }) => (
  <span className={classes.actions}>
    <Button
      size="compact-xs"
      variant="default"
      title={strings.approveKey}
      onClick={() => decide(line, { effect: 'allow', scope: 'host' })}
    >
      {strings.askApprove}
    </Button>
    <Button
      size="compact-xs"
      variant="subtle"
      title={strings.denyKey}
      onClick={() => decide(line, { effect: 'deny', scope: 'host' })}
    >
      {strings.askDeny}
    </Button>
    <MoreMenu label={strings.moreFor({ model: modelName(line.model) })}>
      {wider.map(([title, start]) => (
        <Menu.Item key={title} onClick={() => decide(line, start)}>
          {title}
        </Menu.Item>
      ))}
    </MoreMenu>
  </span>
)

/** The context of a decision on a model: where it is allowed, since when it is known, and the scope that fits. */
const Context = ({ line, decide }: { line: Line; decide: ((line: Line, start: DecideStart) => void) | null }) => {
  const { allowedHosts, firstSeen, suggestion } = line.model
  return (
    <Row wrap gap="2px 12px" pad="0 12px 6px 60px">
      <Quiet small>
        {strings.allowedHosts({ hosts: allowedHosts, most: allowedHosts < allowedMost ? 'no' : 'yes' })}
      </Quiet>
      <Quiet small>{strings.firstSeenAgo({ time: <Time key="time" value={firstSeen} form="ago" /> })}</Quiet>
      {suggestion === null || suggestion.scope === 'host' || decide === null ? null : (
        <PressButton isLink onClick={() => decide(line, { effect: 'allow', scope: suggestion.scope })}>
          {suggestion.scope === 'tag'
            ? strings.approveForThisTag({ tag: <DeviceText key="tag" value={suggestion.tag} /> })
            : strings.approveOnAllHosts}
        </PressButton>
      )}
    </Row>
  )
}

export interface WaitingModelProps {
  model: Waiting
  isOpen: boolean
  /** Key of the line with the cursor. */
  cursor: string | null
  toggle: () => void
  /** Null for accounts that may only read. */
  decide: ((line: Line, start: DecideStart) => void) | null
  isChosen: (line: Line) => boolean
  choose: (line: Line) => void
}

/** One model with its findings and counts. When open, it lists its devices with host, case number and state. */
export const WaitingModel = ({ model, isOpen, cursor, toggle, decide, isChosen, choose }: WaitingModelProps) => {
  const key = modelKey(model)
  const line: Line = { key, model, device: null }
  const check = (one: Line, label: string) =>
    decide === null ? (
      <span />
    ) : (
      <input
        type="checkbox"
        aria-label={strings.select({ label })}
        checked={isChosen(one)}
        disabled={one.device !== null && isChosen(line)}
        onChange={() => choose(one)}
      />
    )
  return (
    <li>
      <div className={classes.line} data-line={key} data-cursor={cursor === key || undefined}>
        {check(line, modelName(model))}
        <button type="button" className={classes.open} aria-expanded={isOpen} onClick={toggle}>
          <Icon name={isOpen ? 'down' : 'right'} size={12} />
          <Icon name={kindIcon(model.devIcon)} title={model.devIconDescription} />
          <span className={classes.clip}>
            <DeviceText value={modelName(model)} />
          </span>
        </button>
        <DeviceIds device={model} />
        <span className={classes.findings}>
          {model.blockedCount > 0 ? (
            <SeverityTag severity="amber" word={strings.blockedCount({ count: model.blockedCount })} />
          ) : null}
          {model.isKnownAttackTool ? <SeverityTag severity="red" word={strings.attackTool} /> : null}
          {model.isVulnerablePeripheral ? <SeverityTag severity="amber" word={strings.vulnerable} /> : null}
        </span>
        <Text nowrap>{amount(model)}</Text>
        <span className={classes.quiet}>
          <Time value={model.lastSeen} />
        </span>
        {decide === null ? <span /> : <Actions line={line} decide={decide} />}
      </div>
      <Context line={line} decide={decide} />
      {isOpen ? (
        <ul className={classes.devices}>
          {model.devices.map((device) => {
            const own = deviceKey(model, device)
            return (
              <li key={own} className={classes.device} data-line={own} data-cursor={cursor === own || undefined}>
                {check(
                  { key: own, model, device },
                  strings.deviceOnHost({ model: modelName(model), host: device.hostIdentifier }),
                )}
                <span className={classes.clip}>
                  <PlainLink href={agentAddress(device.uuid)}>
                    <DeviceText value={device.hostIdentifier} />
                  </PlainLink>
                  {device.owner === '' ? null : (
                    <Quiet small>
                      {' '}
                      <DeviceText value={device.owner} />
                    </Quiet>
                  )}
                  {device.risk === 0 ? null : <Quiet small> {strings.hostRisk({ risk: device.risk })}</Quiet>}
                </span>
                <span className={classes.clip}>
                  <PlainLink href={deviceAddress(device.uuid, device.deviceID)}>
                    <DeviceText value={device.serialNumber} absent={strings.noSerialNumber} />
                  </PlainLink>
                </span>
                <code>{device.caseNumber}</code>
                <span className={classes.clip}>
                  <TagList oneLine tags={device.hashtags} />
                </span>
                <span className={classes.quiet}>
                  {device.present ? (
                    device.isBlocked ? (
                      <SeverityTag severity="amber" word={strings.blocked} />
                    ) : (
                      strings.stillWorks
                    )
                  ) : (
                    strings.detached({ time: <Time key="seen" value={device.lastSeen} form="ago" /> })
                  )}
                </span>
                {decide === null ? <span /> : <Actions line={{ key: own, model, device }} decide={decide} />}
              </li>
            )
          })}
          {model.peripheralsCount > model.devices.length ? (
            <li className={classes.quiet}>
              {strings.newestOnly({
                shown: model.devices.length,
                count: model.peripheralsCount,
              })}
            </li>
          ) : null}
        </ul>
      ) : null}
    </li>
  )
}
