import { Button } from '@mantine/core'
import { modelHostsAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { DrawerBody, Note, Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { Link } from '@tanstack/react-router'
import { getModelPassport, type ResponseOf } from '#features/contract.ts'
import { Advisories } from '../shared/Advisories.tsx'
import { DeviceIds } from '../shared/Device.tsx'
import { findingOf } from '../shared/findings.ts'
import { nameOfModel } from '../shared/model-name.ts'
import { strings } from '../strings.ts'
import { useModelDecision } from '../useModelDecision.ts'
import { ModelDecisions, ModelFindings, ModelFingerprints, ModelSerials } from './ModelTables.tsx'
import { NewHosts } from './NewHosts.tsx'

const BulkDecideDialog = lazilyDialog(
  async () => (await import('#features/policy/console/shared/BulkDecideDialog.tsx')).BulkDecideDialog,
)

type Passport = ResponseOf<typeof getModelPassport>

const Actions = ({ model }: Pick<Passport, 'model'>) => {
  const { session } = useServices()
  const decision = useModelDecision(() => [model])
  if (!session.may('fleet:write')) return null
  return (
    <>
      <Button size="compact-xs" variant="default" loading={decision.busy} onClick={() => decision.ask('allow')}>
        {strings.askApprove}
      </Button>
      <Button size="compact-xs" variant="default" disabled={decision.busy} onClick={() => decision.ask('deny')}>
        {strings.askDeny}
      </Button>
      <Link to="/policy" search={{ open: 'new', device: `${model.vid}:${model.pid}` }}>
        {strings.addModelRule}
      </Link>
      <BulkDecideDialog question={decision.question} close={decision.close} />
    </>
  )
}

const Head = ({ model }: Pick<Passport, 'model'>) => {
  const finding = findingOf(model.severity)
  return (
    <Stack as="header" gap={6} pad="14px 16px 10px" style={{ borderBottom: '1px solid var(--pc-line)' }}>
      <h2>
        <Row as="span" gap={6}>
          <Icon name={kindIcon(model.devIcon)} title={model.devIconDescription} />
          <DeviceText value={nameOfModel(model)} absent={`${model.vid}:${model.pid}`} />
        </Row>
      </h2>
      <Row wrap gap={10} small>
        <DeviceIds device={model} />
        {finding === null ? null : <SeverityTag severity={finding.severity} word={finding.word} />}
        <PlainLink href={modelHostsAddress(model)}>{strings.hostsHaveIt({ count: model.agentsCount })}</PlainLink>
        <Link to="/peripherals" search={{ vid: model.vid, pid: model.pid }}>
          {strings.devicesAttached({ count: model.peripheralsCount })}
        </Link>
        <Quiet>{strings.firstSeenAt({ time: <Time key="first" value={model.firstSeen} form="ago" /> })}</Quiet>
        <Quiet>{strings.lastSeenAt({ time: <Time key="last" value={model.lastSeen} form="ago" /> })}</Quiet>
      </Row>
      <Row wrap gap={10} small>
        <Actions model={model} />
        <MoreMenu curl={() => curlOf(getModelPassport, { params: { model: `${model.vid}:${model.pid}` } })} />
      </Row>
    </Stack>
  )
}

/** Where the devices of a model are, what was decided and found about them, and its variants. */
export const ModelDetail = ({ model }: { model: string }) => {
  const passport = useRead(['model', model], getModelPassport, { params: { model } })
  useLive('peripherals', () => void passport.refetch())
  const { data } = passport
  if (passport.error instanceof CallFailure && passport.error.code === 'not_found')
    return (
      <EmptyState icon="peripherals" title={strings.modelNotFound}>
        <p>{strings.modelNotFoundHint}</p>
      </EmptyState>
    )
  if (data === undefined) return passport.error === null ? <DetailSkeleton /> : <ErrorState query={passport} />
  return (
    <Stack gap={0} style={{ height: '100%' }}>
      <Head model={data.model} />
      <DrawerBody gap={20}>
        <NewHosts passport={data} />
        <ModelDecisions passport={data} />
        <ModelFindings passport={data} />
        {data.vulnerabilities.length === 0 ? null : (
          <Stack as="section" gap={6} small>
            <h3>{strings.vulnerabilities}</h3>
            <Advisories findings={data.vulnerabilities} />
          </Stack>
        )}
        <ModelSerials passport={data} />
        <ModelFingerprints passport={data} />
        {data.isComplete ? null : <Note>{strings.modelIncomplete}</Note>}
      </DrawerBody>
    </Stack>
  )
}
