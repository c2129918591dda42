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
import { WithHistory } from './WithHistory.tsx'

const Seats = ({ used, agents, pending }: LicenceDetails) => {
  if (agents === null)
    return (
      <p className={classes.seats}>
        <strong>{used.toLocaleString('en')}</strong> {used === 1 ? 'host is' : 'hosts are'} known; any number is
        covered.
      </p>
    )
  return (
    <div className={classes.seats}>
      <p>
        <strong>{used.toLocaleString('en')}</strong> of {agents.toLocaleString('en')} hosts
      </p>
      <meter className={classes.meter} min={0} max={agents} value={Math.min(used, agents)} aria-label="Hosts covered" />
      {pending === 0 ? null : (
        <p>
          <Link to="/agents" search={{ License: 'Pending' }}>
            {pending.toLocaleString('en')} {pending === 1 ? 'host is' : 'hosts are'} Pending
          </Link>
          : beyond what is covered. Nothing stops working for them.
        </p>
      )}
    </div>
  )
}

const Standing = ({ licence }: { licence: LicenceDetails }) => {
  const { title, severity, means } = licenceWords[licence.status]
  const isHeld = licence.status !== 'Community' && licence.status !== 'Invalid'
  return (
    <section className={classes.card} aria-label="Licence">
      <p className={classes.status}>
        <SeverityTag severity={severity} word={title} /> {means}
      </p>
      <Seats {...licence} />
      <Facts
        rows={[
          ...(isHeld
            ? ([
                ['Account', <DeviceText key="account" value={licence.accountName} />],
                ['Account id', <DeviceText key="id" value={licence.accountId} />],
                ['Last day', endWords(licence)],
                ...(licence.graceUntil === null ? [] : [['Grace until', `${licence.graceUntil} (UTC)`] as const]),
                ['Features', licence.features.length === 0 ? 'none named' : licence.features.join(', ')],
              ] as const)
            : []),
          [
            'Issuers',
            licence.trustedKeys === 1
              ? '1 key is trusted'
              : `${licence.trustedKeys === 0 ? 'no' : licence.trustedKeys} keys are trusted`,
          ],
        ]}
      />
      {licence.trustedKeys > 0 ? null : (
        <p className={classes.quiet}>
          A licence is accepted once the public key of its issuer is trusted: put the file you got from the issuer into
          the data folder of the server as <code>licence-keys.pem</code>. It is read at once.
        </p>
      )}
    </section>
  )
}

/** The licence: how it stands, what it covers, and how to change it. */
export const LicencePage = () => {
  useTitle('Licence')
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
      title: 'Take the licence away',
      names: [name],
      kind: ['licence', 'licences'],
      consequence:
        'this server is Community again, without limits; hosts follow within seconds. Keep the text of the licence, or go back by the history.',
      action: 'Take away',
      run: async () => {
        changed(await api.call(addOrUpdateLicense, { body: { LICENSE_KEY: null } }))
        tell('The licence is taken away.')
      },
    })
  return (
    <SettingsPage
      title="Licence"
      intro="What you hold, for how many hosts and until when. Devices are judged the same with and without one."
    >
      <WithHistory prefix="LICENSE_">
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
              <p className={classes.quiet}>You can read this; an Administrator can change it.</p>
            )}
            {canWrite && licence.data.status !== 'Community' ? (
              <Button
                variant="default"
                className={classes.away}
                onClick={() => takeAway(licence.data.accountName || 'The stored licence')}
              >
                Take the licence away…
              </Button>
            ) : null}
          </div>
        )}
      </WithHistory>
    </SettingsPage>
  )
}
