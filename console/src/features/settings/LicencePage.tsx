import { Button } from '@mantine/core'
import { addOrUpdateLicense, getLicence, type LicenceDetails } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { tell } from '../../ui/tell.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { LicenceForm } from './LicenceForm.tsx'
import classes from './licence.module.css'
import { endWords, licenceWords } from './licence-labels.ts'
import { strings } from './strings.ts'
import { WithHistory } from './WithHistory.tsx'

const Seats = ({ used, agents, pending }: LicenceDetails) => {
  if (agents === null)
    return (
      <p className={classes.seats}>
        {strings.strongUsedOtherHostsKnownAny({ strong: <strong>{used.toLocaleString('en')}</strong>, used })}
      </p>
    )
  return (
    <div className={classes.seats}>
      <p>{strings.strongOfAgentsHosts({ strong: <strong>{used.toLocaleString('en')}</strong>, agents })}</p>
      <meter
        className={classes.meter}
        min={0}
        max={agents}
        value={Math.min(used, agents)}
        aria-label={strings.hostsCovered}
      />
      {pending === 0 ? null : (
        <p>
          {strings.linkBeyondWhatIsCoveredNothing({
            link: (
              <Link to="/agents" search={{ License: 'Pending' }}>
                {strings.pendingOtherHostsArePending({ pending })}
              </Link>
            ),
          })}
        </p>
      )}
    </div>
  )
}

const Standing = ({ licence }: { licence: LicenceDetails }) => {
  const { title, severity, means } = licenceWords[licence.status]
  const isHeld = licence.status !== 'Community' && licence.status !== 'Invalid'
  return (
    <section className={classes.card} aria-label={strings.licence}>
      <p className={classes.status}>
        <SeverityTag severity={severity} word={title} /> {means}
      </p>
      <Seats {...licence} />
      <Facts
        rows={[
          ...(isHeld
            ? ([
                [strings.account, <DeviceText key="account" value={licence.accountName} />],
                [strings.accountId, <DeviceText key="id" value={licence.accountId} />],
                [strings.lastDay, endWords(licence)],
                ...(licence.graceUntil === null ? [] : [[strings.graceUntil, `${licence.graceUntil} (UTC)`] as const]),
                [strings.features, licence.features.length === 0 ? 'none named' : licence.features.join(', ')],
              ] as const)
            : []),
          [
            strings.issuers,
            licence.trustedKeys === 1
              ? strings.n1KeyIsTrusted
              : strings.valueKeysAreTrusted({ value: licence.trustedKeys === 0 ? 'no' : licence.trustedKeys }),
          ],
        ]}
      />
      {licence.trustedKeys > 0 ? null : (
        <p className={classes.quiet}>{strings.aLicenceIsAcceptedOnceThe({ code: (text) => <code>{text}</code> })}</p>
      )}
    </section>
  )
}

/** The licence: how it stands, what it covers, and how to change it. */
export const LicencePage = () => {
  useTitle(strings.licence)
  const { api, queries, session } = useServices()
  const licence = useQuery({
    queryKey: ['licence'],
    queryFn: ({ signal }) => api.call(getLicence, { signal }),
    refetchInterval: 15_000,
  })
  const canWrite = session.may('config:write')
  const changed = (next: LicenceDetails) => {
    queries.setQueryData(['licence'], next)
    void queries.invalidateQueries({ queryKey: ['config-history'] })
  }
  const takeAway = (name: string) =>
    confirm({
      title: strings.takeTheLicenceAway,
      names: [name],
      kind: ['licence', 'licences'],
      consequence: strings.thisServerIsCommunityAgainWithout,
      action: strings.takeAway,
      run: async () => {
        changed(await api.call(addOrUpdateLicense, { body: { LICENSE_KEY: null } }))
        tell(strings.theLicenceIsTakenAway)
      },
    })
  return (
    <SettingsPage title={strings.licence} intro={strings.whatYouHoldForHowMany}>
      <WithHistory prefix={strings.license}>
        {licence.data === undefined ? (
          licence.error === null ? (
            <DetailSkeleton />
          ) : (
            <ErrorState failure={licence.error} retry={() => void licence.refetch()} />
          )
        ) : (
          <div className={classes.page}>
            <Standing licence={licence.data} />
            {canWrite ? (
              <LicenceForm isHeld={licence.data.status !== 'Community'} onChanged={changed} />
            ) : (
              <p className={classes.quiet}>{strings.youCanReadThisAnAdministrator}</p>
            )}
            {canWrite && licence.data.status !== 'Community' ? (
              <Button
                variant="default"
                className={classes.away}
                onClick={() => takeAway(licence.data.accountName || strings.theStoredLicence)}
              >
                {strings.takeTheLicenceAway2}
              </Button>
            ) : null}
          </div>
        )}
      </WithHistory>
    </SettingsPage>
  )
}
