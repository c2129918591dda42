import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Note, Panel, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { tell } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link } from '@tanstack/react-router'
import { addOrUpdateLicense, getLicence, type LicenceDetails } from '#features/contract.ts'
import { LicenceForm } from './LicenceForm.tsx'
import classes from './licence.module.css'
import { expiryText, licenceLabels } from './licence-labels.ts'
import { strings } from './strings.ts'
import { WithHistory } from './WithHistory.tsx'

const Seats = ({ used, agents, pending }: LicenceDetails) => {
  if (agents === null)
    return (
      <Text as="p" num>
        {strings.seatsUnlimited({ count: <strong>{used.toLocaleString('en')}</strong>, used })}
      </Text>
    )
  return (
    <Stack gap={6} num>
      <p>{strings.seatsUsed({ count: <strong>{used.toLocaleString('en')}</strong>, agents })}</p>
      <meter
        className={classes.meter}
        min={0}
        max={agents}
        value={Math.min(used, agents)}
        aria-label={strings.hostsCovered}
      />
      {pending === 0 ? null : (
        <p>
          {strings.seatsPending({
            link: (
              <Link to="/agents" search={{ License: 'Pending' }}>
                {strings.hostsPending({ count: pending })}
              </Link>
            ),
          })}
        </p>
      )}
    </Stack>
  )
}

const Status = ({ licence }: { licence: LicenceDetails }) => {
  const { title, severity, means } = licenceLabels[licence.status]
  const { health } = licence
  // A valid licence can need attention: it expires soon, or it does not cover all hosts.
  const needsAttention = licence.status === 'Activated' && health.status !== 'OK'
  const isHeld = licence.status !== 'Community' && licence.status !== 'Invalid'
  return (
    <Panel aria-label={strings.licence}>
      <Text as="p">
        <SeverityTag severity={needsAttention ? 'amber' : severity} word={title} />{' '}
        {needsAttention ? health.description : means}
      </Text>
      <Seats {...licence} />
      <Facts
        rows={[
          ...(isHeld
            ? ([
                [strings.account, <DeviceText key="account" value={licence.accountName} />],
                [strings.accountId, <DeviceText key="id" value={licence.accountId} />],
                [strings.expires, expiryText(licence)],
                ...(licence.graceUntil === null
                  ? []
                  : [[strings.graceUntil, strings.utcDate({ date: licence.graceUntil })] as const]),
                [strings.features, licence.features.length === 0 ? strings.none : licence.features.join(', ')],
              ] as const)
            : []),
          [strings.issuers, strings.trustedKeys({ count: licence.trustedKeys })],
        ]}
      />
      {licence.trustedKeys > 0 ? null : <Note>{strings.noKeysText({ code: (text) => <code>{text}</code> })}</Note>}
    </Panel>
  )
}

/** The licence: its state, what it covers, and how to change it. */
export const LicencePage = () => {
  useTitle(strings.licence)
  const { api, queries, session } = useServices()
  const licence = useRead(['licence'], getLicence, { refetchInterval: 15_000 })
  const canWrite = session.may('config:write')
  const changed = (next: LicenceDetails) => {
    queries.setQueryData(['licence'], next)
    void queries.invalidateQueries({ queryKey: ['config-history'] })
  }
  const remove = (name: string) =>
    confirm({
      title: strings.removeLicence,
      names: [name],
      kind: strings.licenceCount,
      consequence: strings.removeConsequence,
      run: async () => {
        changed(await api.call(addOrUpdateLicense, { body: { LICENSE_KEY: null } }))
        tell(strings.licenceRemoved)
      },
    })
  return (
    <SettingsPage title={strings.licence} intro={strings.licenceIntro}>
      <WithHistory prefix="LICENSE_">
        {licence.data === undefined ? (
          licence.error === null ? (
            <DetailSkeleton />
          ) : (
            <ErrorState query={licence} />
          )
        ) : (
          <Stack gap={20} max={680}>
            <Status licence={licence.data} />
            {canWrite ? (
              <LicenceForm isHeld={licence.data.status !== 'Community'} onChanged={changed} />
            ) : (
              <Note>{strings.readOnlyLicence}</Note>
            )}
            {canWrite && licence.data.status !== 'Community' ? (
              <Button
                variant="default"
                style={{ alignSelf: 'flex-start' }}
                onClick={() => remove(licence.data.accountName || strings.storedLicence)}
              >
                {strings.removeLicenceMenu}
              </Button>
            ) : null}
          </Stack>
        )}
      </WithHistory>
    </SettingsPage>
  )
}
