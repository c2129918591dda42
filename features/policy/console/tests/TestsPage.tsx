import { Button } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Quiet, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { SeverityLine, SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { SidePanel } from '@portcullis/platform/console/ui/SidePanel.tsx'
import { type SmallRow, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { useKeys } from '@portcullis/platform/console/ui/useKeys.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { listRuleTests, type RuleTest, sampleRuleTest } from '#features/contract.ts'
import { RuleTestEditor } from './RuleTestEditor.tsx'
import { strings } from './strings.ts'

const refreshGap = 2_000
const addressOf = (id: string) => `/policy/tests?open=${encodeURIComponent(id)}`
const effectName = (effect: RuleTest['decision']) => (effect === 'allow' ? strings.allow : strings.block)

const rowOf = (test: RuleTest): SmallRow => {
  const { id, name, expected, decision, passes, rule, why, vid, pid, serial, kinds, hostIdentifier, tag } = test
  return {
    key: id,
    href: addressOf(id),
    cells: [
      <PlainLink key="name" href={addressOf(id)}>
        <DeviceText value={name} />
      </PlainLink>,
      passes ? strings.passes : <SeverityTag key="result" severity="amber" word={strings.fails} />,
      <>
        {vid}:{pid} <DeviceText value={serial} /> <Quiet>{kinds.join(', ')}</Quiet>
      </>,
      hostIdentifier !== null ? (
        <DeviceText key="host" value={hostIdentifier} />
      ) : tag !== null ? (
        strings.hostWithTag({ tag })
      ) : (
        strings.hostWithoutTags
      ),
      effectName(expected),
      <>
        {effectName(decision)}{' '}
        {rule === null ? (
          <Quiet>{why}</Quiet>
        ) : (
          <PlainLink href={`/policy?open=${encodeURIComponent(rule.id)}`}>
            <DeviceText value={why} />
          </PlainLink>
        )}
      </>,
    ],
  }
}

const Drawer = ({ open, tests, close }: { open: string; tests: readonly RuleTest[]; close: () => void }) => {
  const { session } = useServices()
  const { onHost, deviceOf } = useSearch({ from: '/inside/policy/tests' })
  const isSampled = open === 'new' && onHost !== undefined && deviceOf !== undefined
  const sample = useRead(['rule-test-sample', onHost, deviceOf], sampleRuleTest, {
    query: { uuid: onHost ?? '', deviceID: deviceOf ?? '' },
    enabled: isSampled,
  })
  const test = tests.find(({ id }) => id === open) ?? null
  return (
    <SidePanel label={strings.test} close={close}>
      {isSampled && sample.data === undefined ? (
        sample.error === null ? (
          <DetailSkeleton />
        ) : (
          <ErrorState query={sample} />
        )
      ) : test === null && open !== 'new' ? (
        <EmptyState icon="policy" title={strings.notFound}>
          <p>{strings.notFoundHint}</p>
        </EmptyState>
      ) : (
        <RuleTestEditor
          key={test?.changedAt ?? open}
          test={test}
          start={isSampled ? (sample.data ?? null) : null}
          canWrite={session.may('fleet:write')}
          close={close}
        />
      )}
    </SidePanel>
  )
}

const Summary = ({ tests }: { tests: readonly RuleTest[] }) => {
  const failing = tests.filter(({ passes }) => !passes).length
  if (tests.length === 0) return null
  return (
    <SeverityLine severity={failing === 0 ? 'neutral' : 'amber'} data-testid="tests-summary">
      <strong>
        {failing === 0 ? strings.allPass({ count: tests.length }) : strings.someFail({ failing, count: tests.length })}
      </strong>
    </SeverityLine>
  )
}

/** Lists the rule tests with their results. */
export const TestsPage = () => {
  useTitle(strings.tests)
  const { session } = useServices()
  const navigate = useNavigate({ from: '/policy/tests' })
  const { open } = useSearch({ from: '/inside/policy/tests' })
  const tests = useRead(['rule-tests'], listRuleTests)
  useLiveRefresh(['summary', 'agents'], refreshGap, () => void tests.refetch())
  const canWrite = session.may('fleet:write')
  const set = (next: string | undefined) => void navigate({ to: '.', search: { open: next } })
  useKeys(canWrite ? [{ keys: 'n', description: strings.addTest, run: () => set('new') }] : [])
  return (
    <Stack grow gap={0}>
      <SettingsPage
        title={strings.tests}
        intro={strings.intro}
        actions={
          <>
            {canWrite ? (
              <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={() => set('new')}>
                {strings.addTest}
              </Button>
            ) : null}
            <MoreMenu curl={() => curlOf(listRuleTests, {})} />
          </>
        }
      >
        <ErrorState query={tests} inline />
        <Summary tests={tests.data?.data ?? []} />
        <SmallTable
          label={strings.tests}
          head={[
            strings.name,
            strings.result,
            strings.device,
            strings.decidedOn,
            strings.expected,
            strings.decisionNow,
          ]}
          rows={tests.data?.data.map(rowOf)}
          empty={
            <EmptyState icon="policy" title={strings.noTests}>
              <p>{strings.noTestsHint}</p>
            </EmptyState>
          }
        />
      </SettingsPage>
      {open === undefined || tests.data === undefined ? null : (
        <Drawer key={open} open={open} tests={tests.data.data} close={() => set(undefined)} />
      )}
    </Stack>
  )
}
