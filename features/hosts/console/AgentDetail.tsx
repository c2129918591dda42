import { Button, Menu, Tabs } from '@mantine/core'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Quiet, Row, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazily, lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { HostStatus } from '#features/agents/console/shared/HostStatus.tsx'
import { type AgentDetail as AgentDetails, decideDuplicate, getAgent } from '#features/contract.ts'
import { findingOf } from '#features/devices/console/shared/findings.ts'
import { useNac } from '#features/quarantine/console/shared/useNac.ts'
import { TagEditor } from '#features/tags/console/shared/TagEditor.tsx'
import { AgentCommands } from './AgentCommands.tsx'
import { AgentDevices } from './AgentDevices.tsx'
import { AgentFacts } from './AgentFacts.tsx'
import { AgentHeldPorts } from './AgentHeldPorts.tsx'
import { AgentLogs } from './AgentLogs.tsx'
import { AgentMode } from './AgentMode.tsx'
import { AgentNac } from './AgentNac.tsx'
import { AgentPolicy } from './AgentPolicy.tsx'
import { AgentQuarantines } from './AgentQuarantines.tsx'
import { AgentRisk } from './AgentRisk.tsx'
import { HostOwner } from './HostOwner.tsx'
import type { BulkQuestion } from './shared/bulk/useBulkAction.ts'
import { strings } from './strings.ts'
import { HostTimeline } from './timeline/HostTimeline.tsx'

const BulkDialog = lazilyDialog(async () => (await import('./shared/bulk/BulkDialog.tsx')).BulkDialog)
const HostCompare = lazily(async () => (await import('./compare/HostCompare.tsx')).HostCompare, <DetailSkeleton />)
const QuarantineDialog = lazilyDialog(
  async () => (await import('#features/quarantine/console/shared/QuarantineDialog.tsx')).QuarantineDialog,
)

export interface AgentDetailProps {
  agentId: string
  tab: string | null
  setTab: (tab: string | null) => void
}

// A link can name a tab that does not exist.
const tabs = ['devices', 'timeline', 'risk', 'policy', 'commands', 'facts', 'logs', 'compare']

interface PartProps {
  agent: AgentDetails
  reread: () => void
}

const tagsOf = ({ hashtags }: AgentDetails) => hashtags.split(',').filter((name) => name !== '')

/** Tags and less frequent actions. */
const Tools = ({ agent, reread }: PartProps) => {
  const { session } = useServices()
  const navigate = useNavigate()
  const nac = useNac()
  const [isQuarantining, setIsQuarantining] = useState(false)
  const [removing, setRemoving] = useState<BulkQuestion | null>(null)
  const { uuid: agentId, nics } = agent
  const tags = tagsOf(agent)
  return (
    <>
      <Row wrap gap={10} small>
        <TagList tags={agent.hashtags} />
        {session.may('fleet:write') ? (
          <TagEditor entityType="Agent" elementIds={[agentId]} current={tags} onChanged={reread}>
            {(open) => (
              <Button size="compact-xs" variant="subtle" leftSection={<Icon name="tag" size={12} />} onClick={open}>
                {tags.length === 0 ? strings.addTags : strings.editTags}
              </Button>
            )}
          </TagEditor>
        ) : null}
        <MoreMenu curl={() => curlOf(getAgent, { params: { agentId } })}>
          {session.may('fleet:write') && nac.inUse.length > 0 ? (
            <Menu.Item leftSection={<Icon name="lock" />} onClick={() => setIsQuarantining(true)}>
              {strings.quarantineMenu}
            </Menu.Item>
          ) : null}
          {session.may('fleet:write') ? (
            <Menu.Item
              leftSection={<Icon name="trash" />}
              onClick={() => setRemoving({ action: 'delete', hosts: { uuids: [agentId] } })}
            >
              {strings.askRemove}
            </Menu.Item>
          ) : null}
        </MoreMenu>
      </Row>
      <BulkDialog question={removing} close={() => setRemoving(null)} onDone={() => void navigate({ to: '/agents' })} />
      {isQuarantining ? (
        <QuarantineDialog
          question={{
            uuid: agentId,
            hostIdentifier: agent.hostIdentifier,
            macs: nics.filter(({ isUp, mac }) => isUp && mac !== '').map(({ mac }) => mac),
          }}
          close={() => setIsQuarantining(false)}
        />
      ) : null}
    </>
  )
}

const Duplicates = ({ agent, reread }: PartProps) => {
  const { api, session } = useServices()
  const decide = async (uuid: string, isSameMachine: boolean): Promise<void> => {
    await api.call(decideDuplicate, { params: { agentId: agent.uuid }, body: { uuid, isSameMachine } })
    reread()
  }
  const merge = ({ uuid, hostIdentifier }: AgentDetails['possibleDuplicates'][number]) =>
    confirm({
      title: strings.sameComputer,
      names: [hostIdentifier],
      kind: strings.hostCount,
      consequence: strings.sameComputerEffect({ host: hostIdentifier }),
      run: () => decide(uuid, true),
    })
  return agent.possibleDuplicates.map((other) => (
    <Text key={other.uuid} as="p" top={4} small>
      <SeverityTag severity="amber" word={strings.possibleDuplicate} />{' '}
      {strings.duplicateOf({
        host: (
          <PlainLink key="host" href={agentAddress(other.uuid)}>
            <DeviceText value={other.hostIdentifier} />
          </PlainLink>
        ),
      })}{' '}
      {session.may('fleet:write') ? (
        <>
          <Button size="compact-xs" variant="default" onClick={() => merge(other)}>
            {strings.askSameComputer}
          </Button>{' '}
          <Button size="compact-xs" variant="subtle" onClick={() => void decide(other.uuid, false).catch(tellFailure)}>
            {strings.differentComputers}
          </Button>
        </>
      ) : null}
    </Text>
  ))
}

const Head = ({ agent: data, reread }: PartProps) => {
  const nac = useNac()
  const finding = findingOf(data.severity)
  return (
    <Stack as="header" gap={6} pad="14px 80px 10px 16px">
      <h2>
        <DeviceText value={data.hostIdentifier} />
      </h2>
      <Row wrap gap={10} small>
        <HostStatus host={data} />
        {finding === null ? null : <SeverityTag severity={finding.severity} word={finding.word} />}
        {data.owner === '' ? null : (
          <Quiet>{strings.ownedBy({ owner: <DeviceText key="owner" value={data.owner} /> })}</Quiet>
        )}
        <Quiet>{strings.lastSeenAt({ time: <Time key="seen" value={data.lastUpdated} form="ago" /> })}</Quiet>
      </Row>
      <Tools agent={data} reread={reread} />
      <AgentMode agent={data} onChanged={reread} />
      <AgentHeldPorts agentId={data.uuid} />
      {nac.isShown ? <AgentQuarantines agentId={data.uuid} /> : null}
      <Duplicates agent={data} reread={reread} />
    </Stack>
  )
}

type TabsProps = PartProps & Pick<AgentDetailProps, 'tab' | 'setTab'>

const DetailTabs = ({ agent: data, reread, tab, setTab }: TabsProps) => {
  const nac = useNac()
  const present = data.peripherals.filter((device) => device.present)
  return (
    <Tabs
      value={tab !== null && tabs.includes(tab) ? tab : 'devices'}
      onChange={(next) => setTab(next === 'devices' ? null : next)}
      keepMounted={false}
      style={{ display: 'flex', flexDirection: 'column', flex: 1, minHeight: 0 }}
      styles={{ panel: { flex: 1, minHeight: 0, padding: '12px 16px 24px', overflow: 'auto' } }}
    >
      <Tabs.List>
        <Tabs.Tab value="devices">{strings.devicesTab({ count: present.length })}</Tabs.Tab>
        <Tabs.Tab value="timeline">{strings.timeline}</Tabs.Tab>
        <Tabs.Tab value="risk">{strings.riskTab({ score: data.riskScore })}</Tabs.Tab>
        <Tabs.Tab value="policy">{strings.policy}</Tabs.Tab>
        <Tabs.Tab value="commands">{strings.commands}</Tabs.Tab>
        <Tabs.Tab value="facts">{strings.details}</Tabs.Tab>
        <Tabs.Tab value="logs">{strings.logs}</Tabs.Tab>
        <Tabs.Tab value="compare">{strings.compare}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="devices">
        <AgentDevices devices={data.peripherals} tags={tagsOf(data)} />
      </Tabs.Panel>
      <Tabs.Panel value="timeline">
        <HostTimeline agentId={data.uuid} />
      </Tabs.Panel>
      <Tabs.Panel value="risk">
        <AgentRisk agent={data} />
      </Tabs.Panel>
      <Tabs.Panel value="policy">
        <AgentPolicy agent={data} />
      </Tabs.Panel>
      <Tabs.Panel value="commands">
        <AgentCommands agentId={data.uuid} />
      </Tabs.Panel>
      <Tabs.Panel value="facts">
        <Stack gap={16}>
          <HostOwner agent={data} reread={reread} />
          <AgentFacts agent={data} />
          {nac.isShown ? <AgentNac agentId={data.uuid} /> : null}
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="compare">
        <HostCompare agent={data} />
      </Tabs.Panel>
      <Tabs.Panel value="logs">
        <AgentLogs agent={data} reread={reread} />
      </Tabs.Panel>
    </Tabs>
  )
}

/** One host with its devices, timeline, risk, policy and commands. */
export const AgentDetail = ({ agentId, tab, setTab }: AgentDetailProps) => {
  const agent = useRead(['agent', agentId], getAgent, { params: { agentId } })
  const rereadIf = ({ changed }: { changed: string[] | null }) => {
    if (changed === null || changed.includes(agentId)) void agent.refetch()
  }
  useLive('agents', rereadIf)
  useLive('peripherals', rereadIf)

  if (agent.error instanceof CallFailure && agent.error.code === 'not_found') {
    return (
      <EmptyState icon="agents" title={strings.notFound}>
        <p>{strings.notFoundHint}</p>
      </EmptyState>
    )
  }
  if (agent.data === undefined) {
    return agent.error === null ? <DetailSkeleton /> : <ErrorState query={agent} />
  }
  const reread = () => void agent.refetch()
  return (
    <Stack gap={0} style={{ height: '100%' }}>
      <Head agent={agent.data} reread={reread} />
      <DetailTabs agent={agent.data} reread={reread} tab={tab} setTab={setTab} />
    </Stack>
  )
}
